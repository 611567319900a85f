import { badRequest } from "../../api/api-error.ts";
import { isObject, type KubeObject, type ObjectMeta, type OwnerReference } from "../../api/object.ts";
import { memoize } from "../../lib/memoize.ts";
import type { Random } from "../../lib/random.ts";
import type { ResourceDefinition } from "../model/definition.ts";

// Most moments that are printed are now, several times for one write.
const printSecond = memoize((second: number) => `${new Date(second * 1000).toISOString().slice(0, 19)}Z`, {
  results: 16,
});

/** metav1.Time as objects carry it: RFC 3339 in UTC, whole seconds. */
export function printTime(ms: number): string {
  return printSecond(Math.floor(ms / 1000));
}

/** Removes members that mean nothing, as the real server does when it decodes: null, and empty maps and lists of metadata. */
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

/** Wipes metadata that only the server may set, before an object is created. Upstream: `WipeObjectMetaSystemFields`. */
export function wipeSystemMetadata(metadata: ObjectMeta): void {
  // Deleting what is not there is not free either.
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

/** Five random characters that spell no words. Upstream: `utilrand.String`. */
export function randomSuffix(random: Random): string {
  // One draw for all of them: each costs as much as the rest.
  let rest = random.integer(SUFFIX_ALPHABET.length ** SUFFIX_LENGTH);
  let suffix = "";
  for (let count = 0; count < SUFFIX_LENGTH; count += 1) {
    suffix += SUFFIX_ALPHABET.charAt(rest % SUFFIX_ALPHABET.length);
    rest = Math.floor(rest / SUFFIX_ALPHABET.length);
  }
  return suffix;
}

/** A name for generateName: `base` and five random characters that spell no words. Upstream: `SimpleNameGenerator`. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, MAX_GENERATED_BASE) + randomSuffix(random);
}

/**
 * Gives the object the namespace of the URL, or refuses it when it names another. Upstream:
 * `EnsureObjectNamespaceMatchesRequestNamespace`.
 */
export function settleNamespace(definition: ResourceDefinition, metadata: ObjectMeta, namespace: string): void {
  if (definition.scope === "Cluster") {
    // Compat: `metadata.namespace` of a cluster-scoped object is dropped, not refused.
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
 * Removes identical ownerReferences. Returns the warning to send, if any were found. Upstream:
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

/** Carries over metadata that an update cannot change, so that leaving it out means keeping it. */
export function keepSystemMetadata(next: KubeObject, current: KubeObject): void {
  const { metadata } = next;
  const old = current.metadata;
  metadata.uid ??= old.uid;
  // Compat: whatever the client sent, creationTimestamp and generation are those of the stored object.
  keep(metadata, old, "creationTimestamp");
  keep(metadata, old, "generation");
  // Compat: an update cannot change deletionTimestamp once it is there; setting it is left for validation to refuse.
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
