import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { pathSegment, qualifiedName } from "../../../base/api/names.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import { trimSpace } from "../../../data/cel/kubernetes/strings.ts";
import type { MatchCondition, MatchResources, Rule } from "../../types/admission-registration.ts";
import { pushInvalid } from "../shared-rules/formats.ts";
import { validateLabelSelector } from "../shared-rules/label-selector.ts";
import { type KnownExpressions, pushConditionExpressionErrors } from "./expressions.ts";

/** `operations` of a rule; "*" means all. */
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTABLE_OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const MATCH_POLICIES = ["Equivalent", "Exact"];
const MAX_CONDITIONS = 64;

/** Rejects a value that is set and not in the enum. */
export function pushClosed(
  errors: FieldError[],
  path: string,
  value: string | undefined,
  values: readonly string[],
): void {
  if (value !== undefined && !values.includes(value)) errors.push(notSupportedField(path, value, values));
}

/** Validates a required field with an enum value. */
export function pushRequiredClosed(
  errors: FieldError[],
  path: string,
  value: string | undefined,
  values: readonly string[],
): void {
  if (value === undefined) errors.push(requiredField(path));
  else pushClosed(errors, path, value, values);
}

/** Validates `matchPolicy`: Exact or Equivalent. */
export function pushMatchPolicyErrors(errors: FieldError[], path: string, value: string | undefined): void {
  pushClosed(errors, path, value, MATCH_POLICIES);
}

/** Adds errors if a list is empty, or has other items besides "*". */
function pushListErrors(errors: FieldError[], path: string, list: readonly string[], what: string): void {
  if (list.length === 0) errors.push(requiredField(path));
  if (list.length > 1 && list.includes("*")) {
    errors.push(invalidField(path, list, `if '*' is present, must not specify other ${what}`));
  }
}

/** Validates a RuleWithOperations. */
export function pushRuleErrors(errors: FieldError[], path: string, rule: Rule): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  pushListErrors(errors, `${path}.operations`, operations, "operations");
  for (const [index, operation] of operations.entries()) {
    pushClosed(errors, `${path}.operations[${index}]`, operation, OPERATIONS);
  }
  pushListErrors(errors, `${path}.apiGroups`, apiGroups, "API groups");
  pushListErrors(errors, `${path}.apiVersions`, apiVersions, "API versions");
  for (const [index, version] of apiVersions.entries()) {
    if (version === "") errors.push(requiredField(`${path}.apiVersions[${index}]`));
  }
  pushResourceErrors(errors, `${path}.resources`, resources);
  pushClosed(errors, `${path}.scope`, scope, SCOPES);
}

function pushResourceErrors(errors: FieldError[], path: string, resources: readonly string[]): void {
  if (resources.length === 0) errors.push(requiredField(path));
  const wildParts = new Set<string>();
  const wildOwners = new Set<string>();
  // Compat: upstream's `validateResources` overwrites `hasResourceWithoutSubresource`, so only the last such resource
  // counts.
  let hasPlain = false;
  for (const [index, resource] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (resource === "") {
      errors.push(requiredField(at));
      continue;
    }
    const slash = resource.indexOf("/");
    if (slash < 0) {
      hasPlain = resource !== "*";
      continue;
    }
    const [owner, part] = [resource.slice(0, slash), resource.slice(slash + 1)];
    for (const wild of [wildParts.has(owner) && `${owner}/*`, wildOwners.has(part) && `*/${part}`]) {
      if (wild) errors.push(invalidField(at, resource, `if '${wild}' is present, must not specify ${resource}`));
    }
    if (part === "*") wildParts.add(owner);
    if (owner === "*") wildOwners.add(part);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidField(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && hasPlain) {
    const text = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidField(path, resources, text));
  }
}

function pushNamedRuleErrors(errors: FieldError[], path: string, rule: Rule): void {
  const isSecond = seenBefore<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const at = `${path}.resourceNames[${index}]`;
    pushInvalid(errors, at, name, pathSegment(name));
    if (isSecond(name)) errors.push(duplicateField(at, name));
  }
  pushRuleErrors(errors, path, rule);
}

/** Validates the MatchResources of a policy or binding. */
export function pushMatchErrors(errors: FieldError[], path: string, match: MatchResources): void {
  pushRequiredClosed(errors, `${path}.matchPolicy`, match.matchPolicy, MATCH_POLICIES);
  for (const member of ["namespaceSelector", "objectSelector"] as const) {
    if (match[member] === undefined) errors.push(requiredField(`${path}.${member}`));
    else addAll(errors, validateLabelSelector(match[member], `${path}.${member}`));
  }
  for (const member of ["resourceRules", "excludeResourceRules"] as const) {
    for (const [index, rule] of (match[member] ?? []).entries()) {
      pushNamedRuleErrors(errors, `${path}.${member}[${index}]`, rule);
    }
  }
}

/**
 * Rejects `operations` that a MutatingAdmissionPolicy does not support, such as DELETE. Compat: the path ends in
 * `resourceRules.operations`, without indices.
 */
export function pushMutableErrors(errors: FieldError[], path: string, match: MatchResources): void {
  for (const { operations = [] } of match.resourceRules ?? []) {
    for (const operation of operations) {
      pushClosed(errors, `${path}.resourceRules.operations`, operation, MUTABLE_OPERATIONS);
    }
  }
}

/** Validates `matchConditions`, except their CEL expressions. */
export function pushConditionErrors(
  errors: FieldError[],
  path: string,
  conditions: readonly MatchCondition[] = [],
  options: { readonly params: boolean; readonly known: KnownExpressions },
): void {
  if (conditions.length > MAX_CONDITIONS) errors.push(tooManyField(path, conditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  for (const [index, { name = "", expression = "" }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    const text = trimSpace(expression);
    if (text === "") errors.push(requiredField(`${at}.expression`));
    else pushConditionExpressionErrors(errors, `${at}.expression`, text, options);
    if (name === "") {
      errors.push(requiredField(`${at}.name`));
      continue;
    }
    pushInvalid(errors, `${at}.name`, name, qualifiedName(name));
    if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    names.add(name);
  }
}
