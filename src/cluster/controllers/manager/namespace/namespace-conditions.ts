import type { JsonObject } from "../../../../base/api/object.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { printTime } from "../../../../resources/write/metadata.ts";

/** The number of objects of one resource that remain in a terminating Namespace. */
export interface RemainingKind {
  readonly resource: ServedResource;
  readonly count: number;
}

/** Result of an attempt to empty a terminating Namespace. */
export interface Emptying {
  readonly remaining: readonly RemainingKind[];
  /** The number of remaining objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Error messages. */
  readonly failures: readonly string[];
}

interface Verdict {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The conditions of a terminating Namespace without problems, in the order of the list. */
const WELL: readonly (readonly [type: string, reason: string, message: string])[] = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  [
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"],
  ["NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
];

function troubles({ remaining, finalizers, failures }: Emptying): Map<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  const add = (type: string, reason: string, message: string) =>
    verdicts.set(type, { status: "True", reason, message });
  if (failures.length > 0) {
    const texts = [...failures].sort().join(", ");
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${texts}`;
    add("NamespaceDeletionContentFailure", "ContentDeletionFailed", message);
  }
  if (remaining.length > 0) {
    const texts = remaining.map(({ resource: { definition }, count }) => {
      return `${definition.plural}.${definition.group} has ${count} resource instances`;
    });
    const message = `Some resources are remaining: ${texts.sort().join(", ")}`;
    add("NamespaceContentRemaining", "SomeResourcesRemain", message);
  }
  if (finalizers.size > 0) {
    const texts = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${texts.sort().join(", ")}`;
    add("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message);
  }
  return verdicts;
}

/**
 * The new `status.conditions` of a terminating Namespace after an attempt to empty it. Undefined if nothing changes.
 * Other conditions are kept. lastTransitionTime only changes together with status.
 */
export function nextConditions(
  current: readonly JsonObject[],
  emptying: Emptying,
  nowMs: number,
): JsonObject[] | undefined {
  const verdicts = troubles(emptying);
  const next = [...current];
  let isChanged = false;
  for (const [type, reason, message] of WELL) {
    const verdict = verdicts.get(type) ?? { status: "False", reason, message };
    const at = next.findIndex((condition) => condition.type === type);
    const known = next[at];
    if (known && isSame(known, verdict)) continue;
    isChanged = true;
    const lastTransitionTime = known?.status === verdict.status ? known.lastTransitionTime : printTime(nowMs);
    const { status, ...rest } = verdict;
    const condition = { type, status, lastTransitionTime, ...rest };
    if (known) next[at] = { ...known, ...condition };
    else next.push(condition);
  }
  return isChanged ? next : undefined;
}

function isSame(condition: JsonObject, { status, reason, message }: Verdict): boolean {
  return condition.status === status && condition.reason === reason && condition.message === message;
}
