import { badRequest } from "../../base/api/api-error.ts";
import { isObject, type KubeObject, type ObjectMeta, type OwnerReference } from "../../base/api/object.ts";
import { memoize } from "../../base/util/memoize.ts";
import type { Random } from "../../base/util/random.ts";
import type { ResourceDefinition } from "../model/definition.ts";

// Most printed times are the current one, several times per write.
const printSecond = memoize((second: number) => `${new Date(second * 1000).toISOString().slice(0, 19)}Z`, {
  results: 16,
});

/** Prints a metav1.Time: RFC 3339 in UTC, whole seconds. */
export function printTime(ms: number): string {
  return printSecond(Math.floor(ms / 1000));
}

/** Prints a metav1.MicroTime: RFC 3339 in UTC, with microseconds. */
export function printMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** Removes members without meaning, like kube-apiserver's decoder: null, and empty maps and lists of metadata. */
export function tidyMetadata(metadata: ObjectMeta): ObjectMeta {
  const out: ObjectMeta = {};
  for (const [member, value] of Object.entries(metadata)) {
    if (value === null || value === undefined || value === "" || value === 0) {
      if (member === "deletionGracePeriodSeconds" && value === 0) out[member] = 0;
      continue;
    }
    if (Array.isArray(value) && value.length === 0) continue;
    if (isObject(value) && Object.keys(value).length === 0) continue;
    if (member !== "selfLink") out[member] = value;
  }
  return out;
}

const SYSTEM_MEMBERS = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
] as const;

/**
 * Clears metadata that only the server may set, before an object is created. Upstream: `WipeObjectMetaSystemFields`,
 * which runs before mutating admission and after it, because a webhook may set such members.
 */
export function wipeSystemMetadata(metadata: ObjectMeta): void {
  // The check is cheaper than deleting a missing member.
  for (const member of SYSTEM_MEMBERS) if (metadata[member] !== undefined) delete metadata[member];
}

/** Sets uid and creationTimestamp of a new object. Upstream: `FillObjectMetaSystemFields`. */
export function fillSystemMetadata(metadata: ObjectMeta, uid: string, nowMs: number): void {
  metadata.uid = uid;
  metadata.creationTimestamp = printTime(nowMs);
}

const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_BASE = 58;

/** Five random characters that cannot form words. Upstream: `utilrand.String`. */
export function randomSuffix(random: Random): string {
  // A single random number for all characters, because drawing one is the most expensive part.
  let rest = random.integer(SUFFIX_ALPHABET.length ** SUFFIX_LENGTH);
  let suffix = "";
  for (let count = 0; count < SUFFIX_LENGTH; count += 1) {
    suffix += SUFFIX_ALPHABET.charAt(rest % SUFFIX_ALPHABET.length);
    rest = Math.floor(rest / SUFFIX_ALPHABET.length);
  }
  return suffix;
}

/** A name for generateName: `base` and five random characters. Upstream: `SimpleNameGenerator`. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, MAX_GENERATED_BASE) + randomSuffix(random);
}

/**
 * Sets the namespace of the URL. Throws BadRequest if the object has another one. Upstream:
 * `EnsureObjectNamespaceMatchesRequestNamespace`.
 */
export function settleNamespace(definition: ResourceDefinition, metadata: ObjectMeta, namespace: string): void {
  if (definition.scope === "Cluster") {
    // Compat: `metadata.namespace` of a cluster-scoped object is dropped, not rejected.
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace === undefined) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** The warning about duplicate ownerReferences. */
const duplicateOwners = (when: string) =>
  `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: `;

/**
 * Removes identical ownerReferences. Returns the warning to send, or undefined if there were none. Upstream:
 * `dedupOwnerReferencesAndAddWarning`.
 */
export function dedupeOwnerReferences(metadata: ObjectMeta, isAfterAdmission = false): string | undefined {
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return undefined;
  const kept = new Map<string, OwnerReference>();
  const duplicates: string[] = [];
  for (const owner of owners) {
    const identity = JSON.stringify(Object.entries(owner).sort());
    if (kept.has(identity)) duplicates.push(owner.uid);
    else kept.set(identity, owner);
  }
  if (duplicates.length === 0) return undefined;
  metadata.ownerReferences = [...kept.values()];
  return duplicateOwners(isAfterAdmission ? " after mutating admission happens" : "") + duplicates.join(", ");
}

/** Copies metadata that an update cannot change, so a client may leave it out. */
export function keepSystemMetadata(next: KubeObject, current: KubeObject): void {
  const { metadata } = next;
  const old = current.metadata;
  metadata.uid ??= old.uid;
  // Compat: creationTimestamp and generation are those of the stored object, regardless of what the client sent.
  keep(metadata, old, "creationTimestamp");
  keep(metadata, old, "generation");
  // Compat: an update cannot change an existing deletionTimestamp; validation rejects setting a new one.
  if (old.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp = old.deletionTimestamp;
  }
  metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  for (const member of ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const) {
    if (metadata[member] === undefined) delete metadata[member];
  }
}

function keep(metadata: ObjectMeta, old: ObjectMeta, member: string): void {
  if (old[member] === undefined) delete metadata[member];
  else metadata[member] = old[member];
}
