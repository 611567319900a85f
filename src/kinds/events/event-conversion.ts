import type { Json, KubeObject } from "../../api/object.ts";

const CORE = "v1";

/** What always stands in an event, in either group. */
const ALWAYS: Readonly<Record<string, () => Json>> = {
  involvedObject: () => ({}),
  regarding: () => ({}),
  source: () => ({}),
  deprecatedSource: () => ({}),
  firstTimestamp: () => null,
  lastTimestamp: () => null,
  deprecatedFirstTimestamp: () => null,
  deprecatedLastTimestamp: () => null,
  eventTime: () => null,
};
/** Compat: the core group writes these even when they are empty, the other one never does. */
const CORE_TEXTS = ["reportingComponent", "reportingInstance"];

/** Members in the order in which each group writes them; what both call the same stands once. */
const MEMBERS: readonly (readonly [core: string, other: string])[] = [
  ["involvedObject", "regarding"],
  ["reason", "reason"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["series", "series"],
  ["action", "action"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
];

/** The same event as the other group that serves events calls its members. Nothing is lost either way. */
export function convertEvent(event: KubeObject, toApiVersion: string): KubeObject {
  const toCore = toApiVersion === CORE;
  const converted: KubeObject = { kind: event.kind, apiVersion: toApiVersion, metadata: event.metadata };
  for (const [core, other] of MEMBERS) {
    const [from, to] = toCore ? [other, core] : [core, other];
    const isText = CORE_TEXTS.includes(core);
    const value = event[from] ?? (toCore && isText ? "" : ALWAYS[to]?.());
    if (value !== undefined && (toCore || !isText || value !== "")) converted[to] = value;
  }
  return converted;
}
