import { type FieldError, requiredField } from "../../api/field-error.ts";
import { isObject, type Json } from "../../api/object.ts";
import type { PodSpec } from "./pod-types.ts";

/** What is wrong with the template of pods that a workload carries at `path`. */
export function validatePodTemplate(template: Json | undefined, path: string): FieldError[] {
  const spec: PodSpec = isObject(template) && isObject(template.spec) ? template.spec : {};
  return validatePodSpec(spec, `${path}.spec`);
}

/** What is wrong with the spec of a pod, or of a template. */
export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec.containers ?? []).length === 0) errors.push(requiredField(`${path}.containers`));
  return errors;
}
