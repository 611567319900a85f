import { duplicateField, type FieldError } from "../../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { validateLabels } from "../../../resources/write/metadata-validation.ts";
import type { Texts } from "../../types/meta.ts";
import type { Toleration } from "../../types/pod.ts";
import { validateResources } from "../core/container/resource-validation.ts";
import { strictOptions } from "../core/pod/pod-validation-options.ts";
import { validateTolerations } from "../core/pod/scheduling-validation.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { labelName, pushInvalid } from "../shared-rules/formats.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { deprecatedNodeLabel } from "../shared-rules/node-labels.ts";
import { roundResourceList } from "../shared-rules/quantities.ts";

interface RuntimeClass extends KubeObject {
  overhead?: { podFixed?: Texts };
  scheduling?: { nodeSelector?: Texts; tolerations?: Toleration[] };
}

const TOLERATION_SHAPE = [
  ["Key", "key", ""],
  ["Operator", "operator", ""],
  ["Value", "value", ""],
  ["Effect", "effect", ""],
  ["TolerationSeconds", "tolerationSeconds"],
] as const;

const declaredErrors = declaredHook(
  { RuntimeClass: { fields: { handler: { immutable: true, required: true, format: "short-name" } } } },
  (version) => `io.k8s.api.node.${version}.RuntimeClass`,
);

function tolerationErrors(tolerations: readonly Toleration[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  validateTolerations(errors, tolerations, path, strictOptions);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) {
      errors.push(duplicateField(`${path}[${index}]`, asGo(toleration as JsonObject, TOLERATION_SHAPE)));
    }
    seen.add(identity);
  }
  return errors;
}

/** RuntimeClass: an immutable `handler`, the `overhead` of a pod, and `scheduling` to nodes that support it. */
export const runtimeClassHooks: ResourceHooks = {
  setDefaults: (object) => roundResourceList((object as RuntimeClass).overhead?.podFixed),
  validate(next, previous, context) {
    const { overhead, scheduling: { nodeSelector = {}, tolerations = [] } = {} } = next as RuntimeClass;
    const errors: FieldError[] = [];
    const { handler } = next;
    // Compat: a changed `handler` that is not a DNS label is reported as invalid in addition to being immutable.
    if (previous && typeof handler === "string" && handler !== "" && handler !== previous.handler) {
      pushInvalid(errors, "handler", handler, labelName(handler));
    }
    if (overhead) {
      const scope = { options: strictOptions, claimNames: new Set<string>() };
      validateResources(errors, { limits: overhead.podFixed ?? {} }, "overhead", scope);
    }
    return [
      ...errors,
      ...validateLabels(nodeSelector, "scheduling.nodeSelector"),
      ...tolerationErrors(tolerations, "scheduling.tolerations"),
      ...declaredErrors(next, previous, context),
    ];
  },
  warn: (next) =>
    Object.keys((next as RuntimeClass).scheduling?.nodeSelector ?? {}).flatMap((key) => {
      const text = deprecatedNodeLabel(key);
      return text === undefined ? [] : [`scheduling.nodeSelector: ${text}`];
    }),
};
