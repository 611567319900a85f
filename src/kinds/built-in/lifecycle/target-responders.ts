import { type FieldError, forbiddenField, invalidField } from "../../../base/api/field-error.ts";
import { quote } from "../../../base/go/quote.ts";
import { getMember } from "../../../base/util/members.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import type { ResponderStatus, TargetResponder } from "./eviction-types.ts";

/** Context of validating targetResponders. */
export interface Progress {
  readonly now: number;
  /** Whether the Eviction has a final condition. */
  readonly isFinal: boolean;
  readonly responders: readonly ResponderStatus[];
}

/** One more than a pod's evictionResponders, since the server adds its own. */
export const MAX_RESPONDERS = 11;
/** Maximum clock skew of responders. */
export const SKEW_MS = 30_000;
const HEARTBEAT_MS = 20 * 60_000;
const FINISHED = ["Canceled", "Completed", "Interrupted"];
const PATH = "status.targetResponders";
const OWN_PRIORITIES: Readonly<Record<string, number>> = { "imperative-eviction.k8s.io/evictor": 100 };
const RESERVED_PRIORITIES = 1000;

const SHAPE: GoShape = [
  ["Name", "name", ""],
  ["Priority", "priority"],
  ["State", "state", ""],
];

/** Whether names are duplicated, which declarative validation reports. */
export function hasDuplicates(list: readonly { name?: string }[]): boolean {
  return new Set(list.map(({ name = "" }) => name)).size < list.length;
}

/** The order of targetResponders: by priority, then by domain from its end, then by key. */
export function byTurn(a: TargetResponder, b: TargetResponder): number {
  const [first, second] = [a.priority ?? undefined, b.priority ?? undefined];
  if (first !== second) return first === undefined ? 1 : second === undefined ? -1 : second - first;
  const split = ({ name = "" }: TargetResponder) => {
    const slash = name.indexOf("/");
    const domain = slash < 0 ? name : name.slice(0, slash);
    return { domain: domain.split(".").toReversed(), key: slash < 0 ? "" : name.slice(slash + 1) };
  };
  const [left, right] = [split(a), split(b)];
  for (const [index, label] of left.domain.entries()) {
    const other = right.domain[index];
    if (other === undefined) return 1;
    if (label !== other) return label < other ? -1 : 1;
  }
  if (right.domain.length > left.domain.length) return -1;
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}

/** Validates targetResponders: each goes once from Inactive through Active to a final state. */
export function targetResponderErrors(
  next: readonly TargetResponder[],
  before: readonly TargetResponder[],
  progress: Progress,
): FieldError[] {
  const shown = next.length === 0 ? null : asGo([...next], SHAPE);
  if (before.length > 0 && next.length !== before.length) {
    return [invalidField(PATH, shown, "must preserve the same length and the same keys")];
  }
  const names = new Set(next.map(({ name = "" }) => name));
  if (before.some(({ name = "" }) => !names.has(name))) {
    return [invalidField(PATH, shown, "must preserve the same keys")];
  }
  if (next.length > MAX_RESPONDERS || hasDuplicates(next)) return [];
  const [sorted, old] = [next.toSorted(byTurn), before.toSorted(byTurn)];
  return sorted.flatMap((responder, index) => {
    const place = next.findIndex(({ name }) => name === responder.name);
    const expected = expectedStates(index, sorted, old, progress.isFinal);
    return responderErrors(responder, `${PATH}[${place}]`, expected, progress);
  });
}

interface Expected {
  readonly states: readonly string[];
  readonly reason: string;
}

const ENDED = "the eviction request has finished processing";

function expectedStates(
  index: number,
  next: readonly TargetResponder[],
  old: readonly TargetResponder[],
  isFinal: boolean,
): Expected {
  const active = old.findIndex(({ state }) => state === "Active");
  const hasEnded = isFinal || FINISHED.includes(old.at(-1)?.state ?? "Inactive");
  if (index < active || (old.length > 0 && active < 0 && hasEnded)) {
    return { states: [old[index]?.state ?? ""], reason: "final state is immutable" };
  }
  const isPassedOn = active >= 0 && next[active]?.state !== "Active";
  if (index === active && isPassedOn) return { states: FINISHED, reason: "this responder must reach a final state" };
  if (index === active && active >= 0) {
    if (isFinal) return { states: FINISHED, reason: ENDED };
    return { states: ["Active"], reason: "the eviction request stays active" };
  }
  if ((index === 0 && old.length === 0) || (index === active + 1 && isPassedOn)) {
    if (isFinal) return { states: ["Inactive"], reason: ENDED };
    return { states: ["Active"], reason: "this responder is next in line" };
  }
  return { states: ["Inactive"], reason: "the previously active has not finished processing" };
}

function responderErrors(
  responder: TargetResponder,
  path: string,
  { states, reason }: Expected,
  { responders, isFinal, now }: Progress,
): FieldError[] {
  const { name = "", state = "" } = responder;
  const status = responders.findLast((one) => (one.name ?? "") === name);
  if (!status) {
    const text = `${quote(name)} has to be tracked in status.responders first`;
    return [invalidField(path, asGo(responder, SHAPE), text)];
  }
  const errors = priorityErrors(responder, path);
  if (!states.includes(state)) {
    const text = `must be one of: ${states.toSorted().join(", ")}, because ${reason}`;
    return [...errors, invalidField(`${path}.state`, state, text)];
  }
  const { startTime, heartbeatTime, completionTime } = status;
  if (state !== "Active" && startTime && !completionTime && !isFinal) {
    const deadline = Date.parse(heartbeatTime ?? startTime) + HEARTBEAT_MS - SKEW_MS;
    const text =
      "must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime";
    if (now < deadline) errors.push(forbiddenField(`${path}.state`, text));
  }
  if (state === "Completed" && !completionTime) {
    const text = "cannot become Completed because the responder didn't report status.responders.completionTime";
    errors.push(invalidField(`${path}.state`, state, text));
  }
  return errors;
}

function priorityErrors({ name = "", priority }: TargetResponder, path: string): FieldError[] {
  if (priority === undefined || priority === null || priority < 0) return [];
  const own = getMember(OWN_PRIORITIES, name);
  if (own !== undefined) {
    const text = `core k8s responder is expected to have priority: ${own}`;
    return priority === own ? [] : [invalidField(`${path}.priority`, priority, text)];
  }
  if (priority >= RESERVED_PRIORITIES) return [];
  const text = "priorities 0-999 are reserved for responders with *.k8s.io suffix";
  return [invalidField(`${path}.priority`, priority, text)];
}
