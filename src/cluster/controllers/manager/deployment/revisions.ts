import type { Deployment, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { byCreation } from "../../shared/order.ts";
import { maxSurge } from "./limits.ts";

type Annotations = Readonly<Record<string, string>>;

const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";
const ROLLBACK_TO = "deprecated.deployment.rollback.to";
/** Annotations of a Deployment that its ReplicaSets do not copy. */
const OWN = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  ...[REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, ROLLBACK_TO],
]);
const MAX_HISTORY_CHARACTERS = 2000;

/** The revision of a ReplicaSet, an int64. 0 without one, undefined if it is not a number. */
export function revisionOf({ metadata }: ReplicaSet): bigint | undefined {
  const text = metadata.annotations?.[REVISION];
  return text === undefined ? 0n : parseInteger(text);
}

/** The greatest revision of ReplicaSets. 0 if there is none. */
export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n);
  return revisions.reduce((max, revision) => (revision > max ? revision : max), 0n);
}

/** The revision before the newest one. 0 if there is none. */
export function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const [, second = 0n] = sets.flatMap((set) => revisionOf(set) ?? []).sort((one, other) => (other > one ? 1 : -1));
  return second > 0n ? second : 0n;
}

/** Older revisions first. */
export function byRevision(one: ReplicaSet, other: ReplicaSet): number {
  const [revision, otherRevision] = [revisionOf(one), revisionOf(other)];
  const isOrdered = revision !== undefined && otherRevision !== undefined && revision !== otherRevision;
  if (!isOrdered) return byCreation(one, other);
  return revision < otherRevision ? -1 : 1;
}

/** The revision that the annotation of the removed field rollbackTo names. 0 stands for the previous one. */
export function rollbackTarget({ metadata }: Deployment): bigint | undefined {
  return parseInteger(metadata.annotations?.[ROLLBACK_TO] ?? "");
}

/** The annotations of a Deployment with a revision. */
export function withRevision({ metadata }: Deployment, revision: string): Annotations {
  return { ...metadata.annotations, [REVISION]: revision };
}

/** The annotations of a Deployment after a rollback to a ReplicaSet, or after one that was not possible. */
export function annotationsAfterRollback({ metadata }: Deployment, target?: ReplicaSet): Annotations {
  const { [ROLLBACK_TO]: _, ...kept } = metadata.annotations ?? {};
  if (target === undefined) return kept;
  const own = Object.entries(kept).filter(([name]) => OWN.has(name));
  const copied = Object.entries(target.metadata.annotations ?? {}).filter(([name]) => !OWN.has(name));
  return Object.fromEntries([...own, ...copied]);
}

/**
 * The annotations of the newest ReplicaSet: those of its Deployment, and its revision, which becomes the greatest one. A
 * revision that it had before moves to its history.
 */
export function newestAnnotations(deployment: Deployment, set: ReplicaSet, revision: bigint): Annotations {
  const before = set.metadata.annotations ?? {};
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !OWN.has(name));
  const annotations: Record<string, string> = { ...before, ...Object.fromEntries(copied) };
  const current = before[REVISION] ?? "";
  const known = current === "" ? 0n : parseInteger(current);
  if (known === undefined || known >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (before[REVISION] === undefined) return annotations;
  const history = extendHistory(before[REVISION_HISTORY] ?? "", current);
  return history === undefined ? annotations : { ...annotations, [REVISION_HISTORY]: history };
}

/** Appends a revision and drops the oldest ones until the text is short enough. Undefined if it cannot be. */
function extendHistory(history: string, revision: string): string | undefined {
  const revisions = history === "" ? [] : history.split(",");
  if (revisions.length === 0) return revision;
  let length = history.length + revision.length + 1;
  while (length > MAX_HISTORY_CHARACTERS && revisions.length > 0) length -= (revisions.shift() ?? "").length + 1;
  return length <= MAX_HISTORY_CHARACTERS ? [...revisions, revision].join(",") : undefined;
}

/** The sizes that a ReplicaSet's annotations record: of the Deployment, and with its surge. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const { replicas = 1 } = deployment.spec;
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge(deployment)) };
}

/** `spec.replicas` of the Deployment when the ReplicaSet was scaled last. */
export function desiredReplicas({ metadata }: ReplicaSet): number | undefined {
  return parseCount(metadata.annotations?.[DESIRED_REPLICAS]);
}

/** The same with the surge. */
export function maxReplicas({ metadata }: ReplicaSet): number | undefined {
  return parseCount(metadata.annotations?.[MAX_REPLICAS]);
}

function parseCount(text: string | undefined): number | undefined {
  const count = text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  return count !== undefined && count < 2 ** 31 ? count : undefined;
}

function parseInteger(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)(\d{1,19})$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const value = sign === "-" ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
