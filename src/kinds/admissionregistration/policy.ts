import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../api/field-error.ts";
import { byteLength, dns1035Label, qualifiedName } from "../../api/names.ts";
import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import type { MatchCondition, MatchResources } from "../../types/admission-registration.ts";
import { validateConditions } from "../rules/conditions.ts";
import { pushInvalid, subdomainName } from "../rules/formats.ts";
import { sameValue } from "../rules/immutable.ts";
import {
  pushClosed,
  pushConditionErrors,
  pushMatchErrors,
  pushMutableErrors,
  pushRequiredClosed,
} from "./match-rules.ts";
import { staticNameErrors, staticNameWarnings } from "./static-names.ts";

interface Expression extends JsonObject {
  expression?: string;
}

interface Validation extends Expression {
  message?: string;
  messageExpression?: string;
  reason?: string;
}

interface AuditAnnotation extends JsonObject {
  key?: string;
  valueExpression?: string;
}

interface Mutation extends JsonObject {
  patchType?: string;
  applyConfiguration?: Expression;
  jsonPatch?: Expression;
}

interface PolicySpec extends JsonObject {
  failurePolicy?: string;
  paramKind?: { apiVersion?: string; kind?: string };
  matchConstraints?: MatchResources;
  matchConditions?: MatchCondition[];
  variables?: (Expression & { name?: string })[];
  validations?: Validation[];
  auditAnnotations?: AuditAnnotation[];
  mutations?: Mutation[];
  reinvocationPolicy?: string;
}

const FAILURE_POLICIES = ["Fail", "Ignore"];
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const PATCH_TYPES = ["ApplyConfiguration", "JSONPatch"];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED =
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  );

const specOf = (policy: KubeObject): PolicySpec => (policy.spec as PolicySpec | undefined) ?? {};

function pushParamKindErrors(errors: FieldError[], path: string, paramKind: PolicySpec["paramKind"]): void {
  const { apiVersion = "", kind = "" } = paramKind ?? {};
  const at = `${path}.apiVersion`;
  const parts = apiVersion === "/" ? [""] : apiVersion.split("/");
  if (apiVersion === "") errors.push(requiredField(at));
  else if (parts.length > 2) errors.push(invalidField(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const [group, version = ""] = parts.length === 2 ? parts : ["", parts[0]];
    const groupTexts = group ? subdomainName(group) : [];
    if (groupTexts.length > 0) errors.push(invalidField(at, group, groupTexts.join(",")));
    const texts = dns1035Label(version, "characters");
    if (version === "") errors.push(invalidField(at, apiVersion, "version must be specified"));
    else if (texts.length > 0) errors.push(invalidField(at, version, texts.join(",")));
  }
  const kindTexts = dns1035Label(kind.toLowerCase(), "characters");
  if (kind === "") errors.push(requiredField(`${path}.kind`));
  else if (kindTexts.length > 0) {
    const text = `may have mixed case, but should otherwise match: ${kindTexts.join(",")}`;
    errors.push(invalidField(`${path}.kind`, kind, text));
  }
}

/**
 * Validates what all admission policies have: `paramKind`, `matchConstraints`, `matchConditions`, `variables`,
 * `failurePolicy`.
 */
function pushCommonErrors(
  errors: FieldError[],
  spec: PolicySpec,
  previous: PolicySpec | undefined,
  isMutating: boolean,
) {
  pushRequiredClosed(errors, "spec.failurePolicy", spec.failurePolicy, FAILURE_POLICIES);
  if (spec.paramKind) pushParamKindErrors(errors, "spec.paramKind", spec.paramKind);
  const path = "spec.matchConstraints";
  if (spec.matchConstraints === undefined) errors.push(requiredField(path));
  else {
    pushMatchErrors(errors, path, spec.matchConstraints);
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) errors.push(requiredField(`${path}.resourceRules`));
    if (isMutating) pushMutableErrors(errors, path, spec.matchConstraints);
  }
  const isUnchanged =
    previous !== undefined &&
    sameValue(spec.paramKind, previous.paramKind) &&
    sameValue(spec.matchConditions, previous.matchConditions);
  if (!isUnchanged) pushConditionErrors(errors, "spec.matchConditions", spec.matchConditions);
  for (const [index, { name = "", expression = "" }] of (spec.variables ?? []).entries()) {
    const at = `spec.variables[${index}]`;
    if (name.trim() === "") errors.push(requiredField(`${at}.name`, "name is not specified"));
    else if (!IDENTIFIER.test(name) || RESERVED.includes(name)) {
      errors.push(invalidField(`${at}.name`, name, "must be a valid CEL identifier"));
    }
    if (expression.trim() === "") errors.push(requiredField(`${at}.expression`, "expression is not specified"));
  }
}

function pushValidationErrors(errors: FieldError[], path: string, validation: Validation): void {
  const { expression = "", message = "", messageExpression = "", reason } = validation;
  if (expression.trim() === "") errors.push(requiredField(`${path}.expression`, "expression is not specified"));
  const NOT_EMPTY = "must be non-empty if specified";
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(invalidField(`${path}.messageExpression`, messageExpression, NOT_EMPTY));
  }
  if (message !== "" && message.trim() === "") errors.push(invalidField(`${path}.message`, message, NOT_EMPTY));
  else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidField(`${path}.message`, message, "must not contain line breaks"));
  }
  pushClosed(errors, `${path}.reason`, reason, REASONS);
}

function pushAuditErrors(errors: FieldError[], policyName: string, annotations: readonly AuditAnnotation[]): void {
  const path = "spec.auditAnnotations";
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const shown = annotations.map(({ key = "", valueExpression = "" }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }));
    errors.push(invalidField(path, shown, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`));
  }
  const keys = new Set<string>();
  for (const [index, { key = "", valueExpression = "" }] of annotations.entries()) {
    const at = `${path}[${index}]`;
    const whole = `${policyName}/${key}`;
    if (policyName !== "") pushInvalid(errors, `${at}.key`, whole, qualifiedName(whole));
    else errors.push(invalidField(`${at}.key`, key, "requires metadata.name be non-empty"));
    const value = valueExpression.trim();
    if (value === "") errors.push(requiredField(`${at}.valueExpression`, "valueExpression is not specified"));
    else if (byteLength(value) > MAX_VALUE_EXPRESSION) {
      const text = `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`;
      errors.push(requiredField(`${at}.valueExpression`, text));
    }
    if (keys.has(key)) errors.push(duplicateField(`${at}.key`, key));
    keys.add(key);
  }
}

/** `patchType` of a mutation and the member that goes with it. */
const PATCHES = { JSONPatch: "jsonPatch", ApplyConfiguration: "applyConfiguration" } as const;

function pushMutationErrors(errors: FieldError[], path: string, mutation: Mutation): void {
  const { patchType = "" } = mutation;
  if (patchType === "") {
    errors.push(requiredField(`${path}.patchType`));
    return;
  }
  if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") {
    errors.push(notSupportedField(`${path}.patchType`, patchType, PATCH_TYPES));
    return;
  }
  const member = PATCHES[patchType];
  const other = patchType === "JSONPatch" ? PATCHES.ApplyConfiguration : PATCHES.JSONPatch;
  const patch = mutation[member];
  if (patch === undefined) {
    errors.push(requiredField(`${path}.${member}`, `must be specified when patchType is ${patchType}`));
  } else if ((patch.expression ?? "").trim() === "") errors.push(requiredField(`${path}.${member}.expression`));
  if (mutation[other] !== undefined) {
    const text = `must not be specified when patchType is ${patchType}`;
    errors.push(invalidField(`${path}.${other}`, `{${other}}`, text));
  }
}

function pushValidatingErrors(errors: FieldError[], next: KubeObject, spec: PolicySpec): void {
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = "validations or auditAnnotations must contain at least one item";
    errors.push(requiredField("spec.validations", text), requiredField("spec.auditAnnotations", text));
  }
  for (const [index, validation] of validations.entries()) {
    pushValidationErrors(errors, `spec.validations[${index}]`, validation);
  }
  pushAuditErrors(errors, next.metadata.name ?? "", auditAnnotations);
}

interface PolicyStatus extends JsonObject {
  typeChecking?: { expressionWarnings?: { fieldRef?: string; warning?: string }[] };
}

function statusErrors(policy: KubeObject): FieldError[] {
  const { typeChecking, conditions }: PolicyStatus = (policy.status as PolicyStatus | undefined) ?? {};
  const errors: FieldError[] = [];
  for (const [index, { fieldRef = "", warning = "" }] of (typeChecking?.expressionWarnings ?? []).entries()) {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    if (warning === "") errors.push(requiredField(`${path}.warning`));
    if (fieldRef.trim() === "") errors.push(requiredField(`${path}.fieldRef`));
  }
  return [...errors, ...validateConditions(conditions, "status.conditions")];
}

/** ValidatingAdmissionPolicy: CEL expressions that say which writes are refused. They are compiled elsewhere. */
export const validatingPolicyHooks: ResourceHooks = {
  validate(next, previous, { subresource }) {
    if (subresource === "status") return statusErrors(next);
    const errors: FieldError[] = [];
    pushCommonErrors(errors, specOf(next), previous && specOf(previous), false);
    pushValidatingErrors(errors, next, specOf(next));
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn: staticNameWarnings,
};

/** MutatingAdmissionPolicy: CEL expressions that say how writes are changed. They are compiled elsewhere. */
export const mutatingPolicyHooks: ResourceHooks = {
  validate(next, previous) {
    const errors: FieldError[] = [];
    const spec = specOf(next);
    pushCommonErrors(errors, spec, previous && specOf(previous), true);
    const { mutations = [], reinvocationPolicy = "" } = spec;
    if (mutations.length === 0) {
      errors.push(requiredField("spec.mutations", "mutations must contain at least one item"));
    }
    for (const [index, mutation] of mutations.entries()) {
      pushMutationErrors(errors, `spec.mutations[${index}]`, mutation);
    }
    const policy = reinvocationPolicy === "" ? undefined : reinvocationPolicy;
    pushRequiredClosed(errors, "spec.reinvocationPolicy", policy, REINVOCATION_POLICIES);
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn: staticNameWarnings,
};
