import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import type { Resources } from "../../../resources/resources.ts";
import { isStatus, unlessCode } from "./controller.ts";
import { readFresh } from "./fresh.ts";
import type { Informer } from "./informer.ts";
import { controllerOf, controllerReference } from "./owners.ts";

/** Who claims objects, and how. */
export interface Claim<T extends KubeObject> {
  readonly resources: Resources;
  readonly client: ObjectClient;
  /** The kind and object that becomes the controller. */
  readonly ownerResource: ServedResource;
  readonly owner: KubeObject;
  readonly selector: LabelSelector;
  /** An object must also pass this to match. Optional. */
  readonly accepts?: (object: T) => boolean;
  /** Of the claimed objects. */
  readonly informer: Informer<T>;
  /** Adopted objects get it, released ones lose it. Optional. */
  readonly finalizer?: string;
}

/**
 * The candidates that the owner controls. Adopts orphans that the selector matches, and releases objects that it no
 * longer matches.
 *
 * Upstream: ControllerRefManager
 */
export async function claimObjects<T extends KubeObject>(claim: Claim<T>, candidates: Iterable<T>): Promise<T[]> {
  const { owner, selector, accepts = () => true } = claim;
  const isLeaving = owner.metadata.deletionTimestamp !== undefined;
  let checked: Promise<void> | undefined;
  const claimed: T[] = [];
  const errors: unknown[] = [];
  for (const object of candidates) {
    const { metadata } = object;
    const controller = controllerOf(object);
    const isMatch = matchesLabels(selector, metadata.labels) && accepts(object);
    try {
      if (controller !== undefined) {
        if (controller.uid !== owner.metadata.uid) continue;
        if (isMatch) claimed.push(object);
        else if (!isLeaving) await release(claim, object);
      } else if (isMatch && !isLeaving && metadata.deletionTimestamp === undefined) {
        checked ??= checkAdoption(claim);
        await checked;
        if (await adopt(claim, object)) claimed.push(object);
      }
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return claimed;
}

/** Throws unless the owner still exists and is not being deleted. Its cached state may be old. */
async function checkAdoption<T extends KubeObject>({ resources, ownerResource, owner }: Claim<T>): Promise<void> {
  const { namespace = "", name = "", uid } = owner.metadata;
  const { kind } = ownerResource.definition;
  const fresh = (await readFresh(resources, ownerResource, owner))?.metadata;
  if (fresh?.uid !== uid)
    throw new Error(`original ${kind} ${namespace}/${name} is gone: got uid ${fresh?.uid}, wanted ${uid}`);
  if (fresh?.deletionTimestamp !== undefined) {
    throw new Error(`${namespace}/${name} has just been deleted at ${fresh.deletionTimestamp}`);
  }
}

async function adopt<T extends KubeObject>(claim: Claim<T>, object: T): Promise<boolean> {
  const { ownerResource, owner, finalizer } = claim;
  try {
    const ownerReferences = [controllerReference(ownerResource, owner)];
    await patch(claim, object, { ownerReferences, ...(finalizer !== undefined && { finalizers: [finalizer] }) });
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
}

/** The object may be gone, or another one of the same name. */
async function release<T extends KubeObject>(claim: Claim<T>, object: T): Promise<void> {
  const { uid = "" } = claim.owner.metadata;
  const change = { ownerReferences: [{ $patch: "delete", uid }], ...withoutFinalizer(claim.finalizer) };
  await patch(claim, object, change).catch(unlessCode(404, 422));
}

async function patch<T extends KubeObject>(
  { client, informer }: Claim<T>,
  { metadata: { namespace = "", name = "", uid } }: T,
  change: JsonObject,
): Promise<void> {
  const key = { namespace, name };
  const written = await client.patch(informer.resource, key, { metadata: { uid, ...change } }, { isStrategic: true });
  await informer.sees(written.metadata.resourceVersion);
}

/** The metadata of a strategic merge patch that removes a finalizer, if there is one to remove. */
export function withoutFinalizer(finalizer: string | undefined): JsonObject {
  return finalizer === undefined ? {} : { "$deleteFromPrimitiveList/finalizers": [finalizer] };
}
