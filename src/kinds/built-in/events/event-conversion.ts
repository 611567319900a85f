import type { Json, KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";

const CORE = "v1";

/** Fields that every Event has on the wire, in either group. */
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
/**
 * Compat: v1 writes `reportingComponent` and `reportingInstance` even if they are empty, events.k8s.io/v1 never does.
 */
const CORE_TEXTS = ["reportingComponent", "reportingInstance"];

/** Fields of an Event in wire order: their names in v1 and in events.k8s.io/v1. */
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

/** Converts an Event between v1 and events.k8s.io/v1, which name its fields differently. Lossless. */
export function convertEvent(event: KubeObject, toApiVersion: string): KubeObject {
  const toCore = toApiVersion === CORE;
  const converted: KubeObject = { kind: event.kind, apiVersion: toApiVersion, metadata: event.metadata };
  for (const [core, other] of MEMBERS) {
    const [from, to] = toCore ? [other, core] : [core, other];
    const isText = CORE_TEXTS.includes(core);
    const value = event[from] ?? (toCore && isText ? "" : getMember(ALWAYS, to)?.());
    if (value !== undefined && (toCore || !isText || value !== "")) converted[to] = value;
  }
  return converted;
}
