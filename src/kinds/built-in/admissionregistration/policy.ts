import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { byteLength, dns1035Label, qualifiedName } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { trimSpace } from "../../../data/cel/kubernetes/strings.ts";
import type { ExpressionMode, ExpressionScope, PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import { RETURNS } from "../../../data/cel/policies/returns.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type {
  AuditAnnotation,
  Mutation,
  PolicySpec,
  Validation,
  Variable,
} from "../../types/admission-registration.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { type KnownExpressions, policyCompiler, pushExpressionErrors } from "./expressions.ts";
import {
  pushClosed,
  pushConditionErrors,
  pushMatchErrors,
  pushMutableErrors,
  pushRequiredClosed,
} from "./match-rules.ts";
import { staticNameErrors, staticNameWarnings } from "./static-names.ts";

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
 * Validates the common fields of admission policies: `paramKind`, `matchConstraints`, `matchConditions`,
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
  const known: KnownExpressions = new Set(previous?.matchConditions?.map(({ expression }) => expression));
  const params = spec.paramKind !== undefined;
  if (!isUnchanged) pushConditionErrors(errors, "spec.matchConditions", spec.matchConditions, { params, known });
}

/** Validates `variables`. Each may use the ones before it. */
function pushVariableErrors(errors: FieldError[], compiling: Compiling, variables: readonly Variable[] = []): void {
  const { compiler, scope, modeOf } = compiling;
  for (const [index, { name = "", expression = "" }] of variables.entries()) {
    const at = `spec.variables[${index}]`;
    if (trimSpace(name) === "") errors.push(requiredField(`${at}.name`, "name is not specified"));
    else if (!IDENTIFIER.test(name) || RESERVED.includes(name)) {
      errors.push(invalidField(`${at}.name`, name, "must be a valid CEL identifier"));
    }
    if (trimSpace(expression) === "") {
      errors.push(requiredField(`${at}.expression`, "expression is not specified"));
      continue;
    }
    const compiled = compiler.addVariable(name, expression, scope, modeOf("validations", expression));
    pushExpressionErrors(errors, `${at}.expression`, compiled);
  }
}

/** Stored expressions of a policy, by list: they may use features that new ones must not. */
type KnownIn = Readonly<Record<"validations" | "messages" | "annotations" | "applied", KnownExpressions>>;

/** Context of compiling the expressions of a policy. */
interface Compiling {
  readonly compiler: PolicyCompiler;
  readonly scope: ExpressionScope;
  modeOf(list: keyof KnownIn, text: string): ExpressionMode;
}

function compilingOf(spec: PolicySpec, previous: PolicySpec = {}, composes: boolean): Compiling {
  const { validations = [], auditAnnotations = [], mutations = [] } = previous;
  const known: KnownIn = {
    validations: new Set(validations.map(({ expression }) => expression)),
    messages: new Set(validations.map(({ messageExpression }) => messageExpression)),
    annotations: new Set(auditAnnotations.map(({ valueExpression }) => valueExpression)),
    // Compat: `validateJSONPatch` looks for stored expressions among apply configurations as well.
    applied: new Set(mutations.map(({ applyConfiguration }) => applyConfiguration?.expression)),
  };
  return {
    compiler: policyCompiler(composes),
    scope: { params: spec.paramKind !== undefined, authorizer: true },
    modeOf: (list, text) => (known[list].has(text) ? "stored" : "new"),
  };
}

function pushValidationErrors(
  errors: FieldError[],
  path: string,
  validation: Validation,
  { compiler, scope, modeOf }: Compiling,
): void {
  const { expression = "", message = "", messageExpression = "", reason } = validation;
  if (trimSpace(expression) === "") errors.push(requiredField(`${path}.expression`, "expression is not specified"));
  else {
    const compiled = compiler.compile(expression, RETURNS.condition, scope, modeOf("validations", expression));
    pushExpressionErrors(errors, `${path}.expression`, compiled);
  }
  const NOT_EMPTY = "must be non-empty if specified";
  if (messageExpression !== "" && trimSpace(messageExpression) === "") {
    errors.push(invalidField(`${path}.messageExpression`, messageExpression, NOT_EMPTY));
  } else if (messageExpression !== "") {
    const mode = modeOf("messages", messageExpression);
    const compiled = compiler.compile(messageExpression, RETURNS.message, { ...scope, authorizer: false }, mode);
    pushExpressionErrors(errors, `${path}.messageExpression`, compiled);
  }
  if (message !== "" && message.trim() === "") errors.push(invalidField(`${path}.message`, message, NOT_EMPTY));
  else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidField(`${path}.message`, message, "must not contain line breaks"));
  }
  pushClosed(errors, `${path}.reason`, reason, REASONS);
}

function pushAuditErrors(
  errors: FieldError[],
  policyName: string,
  annotations: readonly AuditAnnotation[],
  { compiler, scope, modeOf }: Compiling,
): void {
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
    const value = trimSpace(valueExpression);
    if (value === "") errors.push(requiredField(`${at}.valueExpression`, "valueExpression is not specified"));
    else if (byteLength(value) > MAX_VALUE_EXPRESSION) {
      const text = `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`;
      errors.push(requiredField(`${at}.valueExpression`, text));
    } else {
      const compiled = compiler.compile(value, RETURNS.auditAnnotation, scope, modeOf("annotations", valueExpression));
      pushExpressionErrors(errors, `${at}.valueExpression`, compiled, valueExpression);
    }
    if (keys.has(key)) errors.push(duplicateField(`${at}.key`, key));
    keys.add(key);
  }
}

/** `patchType` of a mutation and its field. */
const PATCHES = { JSONPatch: "jsonPatch", ApplyConfiguration: "applyConfiguration" } as const;

function pushMutationErrors(
  errors: FieldError[],
  path: string,
  mutation: Mutation,
  { compiler, scope, modeOf }: Compiling,
): void {
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
  const text = trimSpace(patch?.expression ?? "");
  if (patch === undefined) {
    errors.push(requiredField(`${path}.${member}`, `must be specified when patchType is ${patchType}`));
  } else if (text === "") errors.push(requiredField(`${path}.${member}.expression`));
  else {
    const mode = modeOf("applied", patch.expression ?? "");
    const compiled = compiler.compile(text, RETURNS[member], { ...scope, patchTypes: true }, mode);
    pushExpressionErrors(errors, `${path}.${member}.expression`, compiled);
  }
  if (mutation[other] !== undefined) {
    const refusal = `must not be specified when patchType is ${patchType}`;
    errors.push(invalidField(`${path}.${other}`, `{${other}}`, refusal));
  }
}

function pushValidatingErrors(
  errors: FieldError[],
  next: KubeObject,
  spec: PolicySpec,
  previous: PolicySpec | undefined,
): void {
  const { validations = [], auditAnnotations = [], variables = [] } = spec;
  const compiling = compilingOf(spec, previous, variables.length > 0);
  pushVariableErrors(errors, compiling, variables);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = "validations or auditAnnotations must contain at least one item";
    errors.push(requiredField("spec.validations", text), requiredField("spec.auditAnnotations", text));
  }
  for (const [index, validation] of validations.entries()) {
    pushValidationErrors(errors, `spec.validations[${index}]`, validation, compiling);
  }
  pushAuditErrors(errors, next.metadata.name ?? "", auditAnnotations, compiling);
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

/** ValidatingAdmissionPolicy: CEL expressions that decide which writes are rejected. */
export const validatingPolicyHooks: ResourceHooks = {
  validate(next, previous, { subresource }) {
    if (subresource === "status") return statusErrors(next);
    const errors: FieldError[] = [];
    const before = previous && specOf(previous);
    pushCommonErrors(errors, specOf(next), before, false);
    pushValidatingErrors(errors, next, specOf(next), before);
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn: staticNameWarnings,
};

/** MutatingAdmissionPolicy: CEL expressions that change writes. */
export const mutatingPolicyHooks: ResourceHooks = {
  validate(next, previous) {
    const errors: FieldError[] = [];
    const spec = specOf(next);
    const before = previous && specOf(previous);
    pushCommonErrors(errors, spec, before, true);
    const { mutations = [], reinvocationPolicy = "" } = spec;
    const compiling = compilingOf(spec, before, true);
    pushVariableErrors(errors, compiling, spec.variables);
    if (mutations.length === 0) {
      errors.push(requiredField("spec.mutations", "mutations must contain at least one item"));
    }
    for (const [index, mutation] of mutations.entries()) {
      pushMutationErrors(errors, `spec.mutations[${index}]`, mutation, compiling);
    }
    const policy = reinvocationPolicy === "" ? undefined : reinvocationPolicy;
    pushRequiredClosed(errors, "spec.reinvocationPolicy", policy, REINVOCATION_POLICIES);
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn: staticNameWarnings,
};
