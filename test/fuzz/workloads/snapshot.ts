import { isObject, type Json, type JsonObject, type KubeObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { NamespaceView } from "./cluster-view.ts";
import { type EventRules, eventCounts } from "./event-counts.ts";

/** What two clusters must agree on about a namespace. */
export interface Snapshot extends JsonObject {
  /** By `KIND NAME`. */
  readonly objects: Record<string, JsonObject>;
  /** How many Pods look like this, by their text. */
  readonly pods: Record<string, number>;
  /** How many objects with random names look like this, by their text. */
  readonly unnamed: Record<string, number>;
  /** By object, then by reason and message. */
  readonly events: Record<string, Json>;
}

/** What a snapshot contains. */
export interface SnapshotOptions {
  /** Kinds of objects with names of their own. */
  readonly kinds: readonly string[];
  /** Kinds of objects with random names. */
  readonly unnamed: readonly string[];
  readonly eventRules: EventRules;
}

/** Letters and digits of random name suffixes. Upstream: rand.SafeEncodeString */
const SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}";
const VOLUME = new RegExp(`\\bkube-api-access-${SUFFIX}\\b`, "g");
/** Usage when a Pod was rejected for the first time: others may have been deleted just before or after. */
const USED = /(?<=used: pods=)\d+/g;
const UID = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
/** Members that differ between any two clusters. */
const OMITTED = new Set([
  ...["uid", "resourceVersion", "creationTimestamp", "managedFields", "time", "generation"],
  ...["clusterIP", "clusterIPs", "endpoints.kubernetes.io/last-change-trigger-time"],
  ...["startTime", "completionTime", "lastTransitionTime", "lastUpdateTime", "lastProbeTime"],
  ...["lastHeartbeatTime", "timeAdded", "podCIDR", "podCIDRs", "daemonEndpoints"],
  "lastPhaseTransitionTime",
]);
/** Times whose presence is compared. */
const TIMES = new Set(["lastScaleTime", "lastSuccessfulTime"]);

/** Field managers that are not compared. The scheduler writes only if it cannot place a Pod at once. */
const OUTSIDERS = new Set(["kube-scheduler", "kwok"]);

/** The comparable state of a namespace: without uids, times, nodes and random parts of names. */
export function takeSnapshot(view: NamespaceView, { kinds, unnamed, eventRules }: SnapshotOptions): Snapshot {
  const clean = cleaner(view, kinds);
  const objects = kinds
    .flatMap((kind) => view.of(kind))
    .map((object) => [labelOf(object), comparable(object)] as const);
  const others = unnamed.flatMap((kind) => view.of(kind)).map((object) => clean(JSON.stringify(comparable(object))));
  return {
    objects: cleanJson(Object.fromEntries(objects), clean) as Snapshot["objects"],
    pods: counted((view.of("Pod") as Pod[]).map((pod) => podText(pod, clean))),
    unnamed: counted(others),
    events: eventCounts(view.of("Event"), eventRules, clean),
  };
}

function counted(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

const labelOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

/** Replaces random parts of texts. */
export type Clean = (text: string) => string;

/** Pods of one text are interchangeable. */
export function podText(pod: Pod, clean: Clean): string {
  const { nodeName: _, ...spec } = pod.spec ?? {};
  const { phase, conditions = [], reason } = pod.status ?? {};
  const ready = conditions.find(({ type }) => type === "Ready");
  const disruption = conditions.find(({ type }) => type === "DisruptionTarget");
  const states = { phase, reason, ready: ready?.status, disruption: disruption?.reason };
  return clean(JSON.stringify({ metadata: comparableMetadata(pod), ...states, spec: sorted(spec) }));
}

/** Names of Pods end with a random suffix after the name of their controller and, for Jobs, an index. */
export function cleaner(view: NamespaceView, kinds: readonly string[]): Clean {
  const names = kinds.flatMap((kind) => [...view.namesOf(kind)]).sort((one, other) => other.length - one.length);
  const pattern = new RegExp(`\\b((?:${names.join("|")})(?:-\\d+)?)-${SUFFIX}\\b`, "g");
  const withoutNames = (text: string) => (names.length === 0 ? text : text.replace(pattern, "$1-<random>"));
  return (text) =>
    withoutNames(text).replace(VOLUME, "kube-api-access-<random>").replace(USED, "<n>").replace(UID, "<uid>");
}

function comparable(object: KubeObject): JsonObject {
  const { metadata, status, kind: _, apiVersion: __, ...rest } = object;
  const { observedGeneration, ...state } = isObject(status) ? status : {};
  const isObserved = observedGeneration === undefined ? undefined : observedGeneration === metadata.generation;
  const all = { metadata: comparableMetadata(object), ...rest, status: { ...state, isObserved } };
  return sorted(all) as JsonObject;
}

function comparableMetadata({ metadata }: KubeObject): JsonObject {
  const {
    deletionTimestamp,
    managedFields = [],
    annotations = {},
    ...rest
  } = metadata as KubeObject["metadata"] & { managedFields?: Json[] };
  const managers = managedFields.flatMap((entry) => {
    if (!isObject(entry) || OUTSIDERS.has(String(entry.manager))) return [];
    return [`${entry.manager} ${entry.operation} ${entry.subresource ?? ""}`.trimEnd()];
  });
  const isNoted = Object.keys(annotations).some((name) => !OMITTED.has(name));
  return sorted({
    ...rest,
    ...(isNoted && { annotations }),
    isDeleting: deletionTimestamp !== undefined,
    managers: [...new Set(managers)].sort(),
  }) as JsonObject;
}

/** Whether an item of a list is an address of a Service, or a group of them. Their order is random. */
const isAddress = (item: Json) =>
  isObject(item) && ["ip", "addresses", "notReadyAddresses"].some((member) => Object.hasOwn(item, member));

/** Addresses and nodes of Pods differ between any two clusters. */
function withoutPlace(item: Json): Json {
  if (!isObject(item) || !isAddress(item) || !isObject(item.targetRef)) return item;
  const { ip: _, addresses: __, nodeName: ___, hints, ...rest } = item;
  return { ...rest, hasHints: hints !== undefined };
}

/** Conditions by type, members by name, and without those that always differ. Taints are added by racing workers. */
function sorted(value: Json | undefined, name = ""): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(withoutPlace(item)));
    const isUnordered = name === "taints" || value.some(isAddress);
    if (isUnordered) return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    const typeOf = (item: Json) => (isObject(item) && typeof item.type === "string" ? item.type : "");
    return items.every((item) => typeOf(item) !== "") ? items.sort((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1)) : items;
  }
  if (!isObject(value)) return TIMES.has(name) ? "<time>" : (value ?? null);
  const kept = Object.entries(value).filter(([name, member]) => !OMITTED.has(name) && member !== undefined);
  return Object.fromEntries(
    kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member, name)]),
  );
}

function cleanJson(value: Json, clean: Clean): Json {
  return JSON.parse(clean(JSON.stringify(value))) as Json;
}
