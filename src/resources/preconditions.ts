import { conflict, type ResourceName } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { ResourceDefinition } from "./definition.ts";

/** What must be true of the stored object for a deletion to go ahead. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Throws Conflict when a deletion was meant for another object than the stored one. */
export function checkPreconditions(
  definition: ResourceDefinition,
  name: string,
  preconditions: Preconditions | undefined,
  current: KubeObject,
): void {
  if (!preconditions) return;
  const target = { group: definition.group, resource: definition.kind };
  const { uid, resourceVersion } = current.metadata;
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      target,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      target,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Throws Conflict when an update names another uid than the stored one, or one where nothing is stored. */
export function checkUid(
  target: ResourceName,
  name: string,
  key: string,
  expected: string,
  current: string | undefined,
): void {
  if (expected === current) return;
  const detail = `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${current ?? ""}`;
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
  throw conflict(target, name, text);
}
