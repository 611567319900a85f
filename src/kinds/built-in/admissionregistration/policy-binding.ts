import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { ParamRef, PolicyBindingSpec } from "../../types/admission-registration.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { validateLabelSelector } from "../shared-rules/label-selector.ts";
import { pushMatchErrors, pushMutableErrors } from "./match-rules.ts";
import { staticNameErrors, staticNameWarnings } from "./static-names.ts";

const VALIDATION_ACTIONS = ["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS = ["Deny", "Allow"];
const EXCLUSIVE = "name and selector are mutually exclusive";

const specOf = (binding: KubeObject): PolicyBindingSpec => (binding.spec as PolicyBindingSpec | undefined) ?? {};

function pushParamRefErrors(errors: FieldError[], path: string, paramRef: ParamRef): void {
  const { name = "", selector, parameterNotFoundAction: action = "" } = paramRef;
  const hasBoth = name !== "" && selector !== undefined;
  if (name !== "") pushInvalid(errors, `${path}.name`, name, pathSegment(name));
  if (hasBoth) errors.push(forbiddenField(`${path}.name`, EXCLUSIVE));
  addAll(errors, validateLabelSelector(selector, `${path}.selector`));
  if (hasBoth) errors.push(forbiddenField(`${path}.selector`, EXCLUSIVE));
  if (name === "" && selector === undefined) {
    errors.push(requiredField(path, "one of name or selector must be specified"));
  }
  const at = `${path}.parameterNotFoundAction`;
  if (action === "") errors.push(requiredField(at));
  else if (!NOT_FOUND_ACTIONS.includes(action)) errors.push(notSupportedField(at, action, NOT_FOUND_ACTIONS));
}

function pushCommonErrors(
  errors: FieldError[],
  { policyName = "", paramRef, matchResources }: PolicyBindingSpec,
): void {
  if (policyName !== "") pushInvalid(errors, "spec.policyName", policyName, subdomainName(policyName));
  if (paramRef) pushParamRefErrors(errors, "spec.paramRef", paramRef);
  if (matchResources) pushMatchErrors(errors, "spec.matchResources", matchResources);
}

function pushActionErrors(errors: FieldError[], actions: readonly string[]): void {
  const path = "spec.validationActions";
  const isSecond = seenBefore<string>();
  for (const [index, action] of actions.entries()) {
    const at = `${path}[${index}]`;
    if (!VALIDATION_ACTIONS.includes(action)) errors.push(notSupportedField(at, action, VALIDATION_ACTIONS));
    if (isSecond(action)) errors.push(duplicateField(at, action));
  }
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const text =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidField(path, actions, text));
  }
}

/** ValidatingAdmissionPolicyBinding: activates a ValidatingAdmissionPolicy. */
export const validatingBindingHooks: ResourceHooks = {
  validate(next, previous) {
    const errors: FieldError[] = [];
    const spec = specOf(next);
    const { policyName = "", validationActions = [] } = spec;
    pushCommonErrors(errors, spec);
    pushActionErrors(errors, validationActions);
    addAll(errors, staticNameErrors(next, previous));
    // Compat: declarative validation checks that `spec.policyName` and `spec.validationActions` are set, after all
    // other errors.
    if (policyName === "") errors.push(requiredField("spec.policyName"));
    if (validationActions.length === 0) errors.push(requiredField("spec.validationActions"));
    return errors;
  },
  warn: staticNameWarnings,
};

/** MutatingAdmissionPolicyBinding: activates a MutatingAdmissionPolicy. */
export const mutatingBindingHooks: ResourceHooks = {
  setDefaults(binding, apiVersion) {
    const { paramRef } = specOf(binding);
    if (apiVersion.endsWith("/v1alpha1") && paramRef) paramRef.parameterNotFoundAction ??= "Deny";
  },
  validate(next, previous) {
    const errors: FieldError[] = [];
    const spec = specOf(next);
    if (!spec.policyName) errors.push(requiredField("spec.policyName"));
    pushCommonErrors(errors, spec);
    if (spec.matchResources) pushMutableErrors(errors, "spec.matchResources", spec.matchResources);
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn: staticNameWarnings,
};
