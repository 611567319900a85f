import { conflict, invalid, MODIFIED, type ResourceName } from "../../base/api/api-error.ts";
import { invalidField } from "../../base/api/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../base/api/object.ts";
import { parseVersion } from "../../base/api/resource-version.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import type { Preconditions } from "../model/write-request.ts";

/** Throws 409 Conflict if the stored object does not meet the preconditions of DeleteOptions. */
export function checkPreconditions(
  definition: ResourceDefinition,
  name: string,
  preconditions: Preconditions | undefined,
  current: KubeObject,
): void {
  if (!preconditions) return;
  const target = { group: definition.storage?.group ?? definition.group, resource: definition.kind };
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

/** Throws 409 Conflict if an update expects another uid or resourceVersion than the stored one. */
export function checkStored(
  target: ResourceName,
  name: string,
  key: string,
  expected: Preconditions,
  { uid = "", resourceVersion = "" }: ObjectMeta,
): void {
  const detail =
    expected.uid !== undefined && expected.uid !== uid
      ? `UID in precondition: ${expected.uid}, UID in object meta: ${uid}`
      : expected.resourceVersion !== undefined && expected.resourceVersion !== resourceVersion
        ? `ResourceVersion in precondition: ${expected.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`
        : undefined;
  if (detail === undefined) return;
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${detail}`;
  throw conflict(target, name, text);
}

/**
 * Throws 409 Conflict if an update has another resourceVersion than the stored one, or 422 if it lacks a required one.
 */
export function checkVersion(
  { definition, version: served }: ServedResource,
  next: KubeObject,
  stored: number,
  isPatch = false,
): void {
  const { group, plural, rules } = definition;
  const { name = "", resourceVersion } = next.metadata;
  const seen = parseVersion(resourceVersion);
  if (seen !== 0) {
    if (seen !== stored) throw conflict({ group, resource: plural }, name, MODIFIED);
    return;
  }
  const isRequired = served.requiresResourceVersion ?? rules.requiresResourceVersion;
  if (!isRequired || isPatch) return;
  throw invalid({ group, kind: plural }, name, [
    invalidField("metadata.resourceVersion", 0, "must be specified for an update"),
  ]);
}
