import type { Json, KubeObject } from "../../../src/base/api/object.ts";
import { asEvent, type EventObject } from "./event-objects.ts";

/** How Events of a reason are compared. */
export type EventRule =
  /** The number of Events with the same message. */
  | "count"
  /** Not compared: a condition shows the problem as long as it lasts. */
  | "ignored"
  /** Whether there are Events with the message, for retries. */
  | "presence"
  /** The sum of all steps in one direction, for `... from A to B`: their sizes depend on when Pods become ready. */
  | "steps";

/** Which Events are compared, and how. */
export interface EventRules {
  /** Other sources are ignored. */
  readonly components: readonly string[];
  /** By reason. Default: count. */
  readonly rules: Readonly<Record<string, EventRule>>;
}

/** Stands for every value: client-go combined or dropped Events, and when it does so depends on time. */
export const ANY = "<any>";

/** client-go drops further Events about an object. Upstream: defaultSpamBurst */
const BURST = 25;
const STEP = /^(.*) from (\d+) to (\d+)$/;

/**
 * The real program reads claims and Pods from caches that may not show its own last write yet. With `--both-real`, 3 of 80
 * sequences differed in such messages, in each of four runs.
 */
const CONFLICT = "the object has been modified";

type Counts = Record<string, Json>;

/** Counts Events by object, then by reason and message. Nothing is known about an object with dropped Events. */
export function eventCounts(
  objects: readonly KubeObject[],
  { components, rules }: EventRules,
  clean: (text: string) => string,
): Counts {
  const counts: Counts = {};
  const isCompared = ({ source, reason, message }: EventObject) =>
    components.includes(source.component ?? "") && rules[reason] !== "ignored" && !message.includes(CONFLICT);
  const events = objects.map(asEvent).filter(isCompared);
  const byObject = Map.groupBy(events, ({ involvedObject: { kind, name } }) => clean(`${kind} ${name}`));
  for (const [object, all] of byObject) {
    const byReason = Map.groupBy(all, ({ type, reason }) => `${type} ${reason}`);
    const isLimited = all.reduce((sum, { count }) => sum + count, 0) >= BURST;
    const entries = [...byReason].map(([reason, some]) => [reason, counted(some, rules, clean)]);
    counts[object] = isLimited ? ANY : Object.fromEntries(entries);
  }
  return counts;
}

function counted(events: readonly EventObject[], rules: EventRules["rules"], clean: (text: string) => string): Json {
  const rule = rules[events[0]?.reason ?? ""] ?? "count";
  const isCombined = events.some(({ message }) => message.startsWith("(combined"));
  if (isCombined) return ANY;
  const sums: Record<string, number> = {};
  const add = (text: string, value: number) => {
    sums[text] = (sums[text] ?? 0) + value;
  };
  for (const { message, count } of events) {
    const text = clean(message);
    const [, what, from, to] = STEP.exec(text) ?? [];
    if (rule === "presence") sums[text] = 1;
    else if (rule === "steps" && what !== undefined) add(what, count * Math.abs(Number(to) - Number(from)));
    else add(text, count);
  }
  return sums;
}
