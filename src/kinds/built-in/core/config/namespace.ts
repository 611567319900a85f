import { type FieldError, invalidField } from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import type { ResourceHooks, WriteContext } from "../../../../resources/model/definition.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";
/** The finalizer in `spec.finalizers` that keeps a Namespace until its contents are deleted. */
const CONTENT_FINALIZER = "kubernetes";
const STANDARD_FINALIZERS = [CONTENT_FINALIZER, "orphan", "foregroundDeletion"];

function spec(namespace: KubeObject): JsonObject {
  if (!isObject(namespace.spec)) namespace.spec = {};
  return namespace.spec;
}

function finalizers(namespace: KubeObject): string[] {
  const { finalizers: found } = isObject(namespace.spec) ? namespace.spec : {};
  return Array.isArray(found) ? (found as string[]) : [];
}

/** Compat: the label `kubernetes.io/metadata.name` is set to the name, regardless of the request. */
function labelWithName({ metadata }: KubeObject): void {
  if (metadata.name !== undefined) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}

function finalizerErrors(finalizer: string): FieldError[] {
  const texts = qualifiedName(finalizer);
  if (!finalizer.includes("/") && !STANDARD_FINALIZERS.includes(finalizer)) {
    texts.push("name is neither a standard finalizer name nor is it fully qualified");
  }
  return texts.map((text) => invalidField("spec.finalizers", finalizer, text));
}

/** Namespace: `status.phase` is Active until deletion, then Terminating until its contents are gone. */
export const namespaceHooks: ResourceHooks = {
  setDefaults(namespace) {
    labelWithName(namespace);
    if (isObject(namespace.status)) namespace.status.phase ??= "Active";
  },
  prepare(next: KubeObject, previous: KubeObject | undefined, { subresource }: WriteContext) {
    if (!previous) {
      next.status = { phase: "Active" };
      const wanted = finalizers(next);
      if (!wanted.includes(CONTENT_FINALIZER)) wanted.push(CONTENT_FINALIZER);
      spec(next).finalizers = wanted;
    } else if (subresource === "") {
      spec(next).finalizers = [...finalizers(previous)];
    }
    labelWithName(next);
  },
  validate(next, previous, { subresource }) {
    if (!previous || subresource === "finalize") return finalizers(next).flatMap((one) => finalizerErrors(one));
    if (subresource !== "status") return [];
    const isDeleted = next.metadata.deletionTimestamp !== undefined;
    const expected = isDeleted ? "Terminating" : "Active";
    const phase = isObject(next.status) ? (next.status.phase ?? "") : "";
    if (phase === expected) return [];
    const text = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleted ? "not " : ""}empty`;
    return [invalidField("status.Phase", phase, text)];
  },
  isHeld: (namespace) => finalizers(namespace).length > 0,
  markDeleted(namespace) {
    namespace.status = { ...(isObject(namespace.status) ? namespace.status : {}), phase: "Terminating" };
  },
};
