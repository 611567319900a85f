import { isObject, type JsonObject, type KubeObject } from "../../api/object.ts";
import type { ResourceHooks, WriteWay } from "../../resources/definition.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";
/** Holds a namespace until what is in it has been deleted. */
const CONTENT_FINALIZER = "kubernetes";

function spec(namespace: KubeObject): JsonObject {
  if (!isObject(namespace.spec)) namespace.spec = {};
  return namespace.spec;
}

function finalizers(namespace: KubeObject): string[] {
  const { finalizers: found } = isObject(namespace.spec) ? namespace.spec : {};
  return Array.isArray(found) ? (found as string[]) : [];
}

/** A namespace is active until it is deleted, and stays until its content is gone. */
export const namespaceHooks: ResourceHooks = {
  prepare(next: KubeObject, previous: KubeObject | undefined, { subresource }: WriteWay) {
    if (!previous) {
      next.status = { phase: "Active" };
      const wanted = finalizers(next);
      if (!wanted.includes(CONTENT_FINALIZER)) wanted.push(CONTENT_FINALIZER);
      spec(next).finalizers = wanted;
    } else if (subresource === "") {
      spec(next).finalizers = [...finalizers(previous)];
    }
    // Compat: the label is there whatever the client wrote.
    next.metadata.labels = { ...next.metadata.labels, [NAME_LABEL]: next.metadata.name ?? "" };
  },
  isHeld: (namespace) => finalizers(namespace).length > 0,
  markDeleted(namespace) {
    namespace.status = { ...(isObject(namespace.status) ? namespace.status : {}), phase: "Terminating" };
  },
};
