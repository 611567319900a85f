import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import type { KubeObject, OwnerReference } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { Informer } from "./informer.ts";

/** The owner reference with `controller: true`. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** A reference that makes an object of this resource the controller of another object. */
export function controllerReference(
  { apiVersion, definition }: ServedResource,
  { metadata }: KubeObject,
): OwnerReference {
  const { name = "", uid = "" } = metadata;
  return { apiVersion, kind: definition.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The controller of an object, if the informer has it. Another object may have got its name. */
export function findController<T extends KubeObject>(
  informer: Informer<T>,
  object: KubeObject | undefined,
): T | undefined {
  const reference = object && controllerOf(object);
  if (reference?.kind !== informer.resource.definition.kind) return undefined;
  const found = informer.get(`${object?.metadata.namespace}/${reference.name}`);
  return found?.metadata.uid === reference.uid ? found : undefined;
}

/** The candidates whose selector matches the labels of an orphan. An empty selector matches nothing. */
export function* possibleControllers<T extends KubeObject>(
  candidates: Iterable<T>,
  selectorOf: (candidate: T) => LabelSelector | undefined,
  { metadata: { labels } }: KubeObject,
): Generator<T> {
  for (const candidate of candidates) {
    const selector = selectorOf(candidate);
    if (selector && selector.length > 0 && matchesLabels(selector, labels)) yield candidate;
  }
}
