import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../base/api/names.ts";
import { quote } from "../../../base/go/quote.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import { nonNegative } from "../shared-rules/numbers.ts";
import { countIndexes } from "./index-intervals.ts";
import type { JobSpec, OnExitCodes, OnPodCondition, PodFailurePolicyRule, SuccessPolicyRule } from "./job-types.ts";

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const EXIT_CODE_OPERATORS = ["In", "NotIn"];
const CONDITION_STATUSES = ["False", "True", "Unknown"];
const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;
const MAX_INDEXES_BYTES = 64 * 1024;

/** The wire text that lists the valid values of a required field. */
function validValues(values: readonly string[]): string {
  return `valid values: [${values.map(quote).join(" ")}]`;
}

/** Validates `spec.podFailurePolicy` of a Job. */
export function validatePodFailurePolicy(spec: JobSpec, path: string): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const errors = rules.length > MAX_RULES ? [tooManyField(`${path}.rules`, rules.length, MAX_RULES)] : [];
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name = "" }) => name));
  for (const [index, rule] of rules.entries()) {
    addAll(errors, validateAction(rule, spec, `${path}.rules[${index}].action`));
    addAll(errors, validateTriggers(rule, names, `${path}.rules[${index}]`));
  }
  return errors;
}

function validateAction({ action = "" }: PodFailurePolicyRule, spec: JobSpec, path: string): FieldError[] {
  if (action === "") return [requiredField(path, validValues(ACTIONS))];
  if (!ACTIONS.includes(action)) return [notSupportedField(path, action, ACTIONS)];
  if (action !== "FailIndex" || spec.backoffLimitPerIndex !== undefined) return [];
  return [invalidField(path, action, "requires the backoffLimitPerIndex to be set")];
}

function validateTriggers(rule: PodFailurePolicyRule, containers: ReadonlySet<string>, path: string): FieldError[] {
  const { onExitCodes, onPodConditions = [] } = rule;
  const errors: FieldError[] = [];
  if (onExitCodes) addAll(errors, validateExitCodes(onExitCodes, containers, `${path}.onExitCodes`));
  if (onPodConditions.length > 0) addAll(errors, validateConditions(onPodConditions, `${path}.onPodConditions`));
  if (onExitCodes && onPodConditions.length > 0) {
    errors.push(invalidRule(path, "specifying both OnExitCodes and OnPodConditions is not supported"));
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    errors.push(invalidRule(path, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
  return errors;
}

/**
 * Compat: these errors of `validatePodFailurePolicyRule` have `field.OmitValueType`, so no value follows "Invalid
 * value".
 */
function invalidRule(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, message: `Invalid value: ${detail}` };
}

function validateConditions(patterns: readonly OnPodCondition[], path: string): FieldError[] {
  const errors = patterns.length > MAX_PATTERNS ? [tooManyField(path, patterns.length, MAX_PATTERNS)] : [];
  for (const [index, { type = "", status = "" }] of patterns.entries()) {
    const field = `${path}[${index}]`;
    addAll(
      errors,
      qualifiedName(type).map((text) => invalidField(`${field}.type`, type, text)),
    );
    if (status === "") errors.push(requiredField(`${field}.status`, validValues(CONDITION_STATUSES)));
    else if (!CONDITION_STATUSES.includes(status)) {
      errors.push(notSupportedField(`${field}.status`, status, CONDITION_STATUSES));
    }
  }
  return errors;
}

function validateExitCodes(codes: OnExitCodes, containers: ReadonlySet<string>, path: string): FieldError[] {
  const { operator = "", containerName } = codes;
  const values = codes.values ?? [];
  const errors: FieldError[] = [];
  if (operator === "") errors.push(requiredField(`${path}.operator`, validValues(EXIT_CODE_OPERATORS)));
  else if (!EXIT_CODE_OPERATORS.includes(operator)) {
    errors.push(notSupportedField(`${path}.operator`, operator, EXIT_CODE_OPERATORS));
  }
  if (containerName !== undefined && !containers.has(containerName)) {
    const text = "must be one of the container or initContainer names in the pod template";
    errors.push(invalidField(`${path}.containerName`, containerName, text));
  }
  const field = `${path}.values`;
  if (values.length === 0) errors.push(invalidField(field, null, "at least one value is required"));
  else if (values.length > MAX_EXIT_CODES) errors.push(tooManyField(field, values.length, MAX_EXIT_CODES));
  const isSecond = seenBefore<number>();
  for (const [index, value] of values.entries()) {
    if (operator === "In" && value === 0) {
      errors.push(invalidField(`${field}[${index}]`, value, "must not be 0 for the In operator"));
    }
    if (isSecond(value)) errors.push(duplicateField(`${field}[${index}]`, value));
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
  if (!isOrdered) errors.push(invalidField(field, values, "must be ordered"));
  return errors;
}

/** Validates `spec.successPolicy` of a Job. */
export function validateSuccessPolicy(spec: JobSpec, path: string): FieldError[] {
  const rules = spec.successPolicy?.rules ?? [];
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    const text = "at least one rules must be specified when the successPolicy is specified";
    errors.push(requiredField(`${path}.rules`, text));
  }
  if (rules.length > MAX_RULES) errors.push(tooManyField(`${path}.rules`, rules.length, MAX_RULES));
  for (const [index, rule] of rules.entries()) {
    addAll(errors, validateSuccessRule(rule, spec.completions ?? 0, `${path}.rules[${index}]`));
  }
  return errors;
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, path: string): FieldError[] {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    return [requiredField(path, "at least one of succeededCount or succeededIndexes must be specified")];
  }
  const errors: FieldError[] = [];
  const { total, problem } = countIndexes(succeededIndexes ?? "", completions);
  if (succeededIndexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (byteLength(succeededIndexes) > MAX_INDEXES_BYTES) errors.push(tooLongField(field, MAX_INDEXES_BYTES));
    if (problem !== undefined) {
      errors.push(invalidField(field, succeededIndexes, `error parsing succeededIndexes: ${problem}`));
    }
  }
  if (succeededCount === undefined) return errors;
  const field = `${path}.succeededCount`;
  addAll(errors, nonNegative(succeededCount, field));
  const atMost = (limit: number, what: string) =>
    invalidField(field, succeededCount, `must be less than or equal to ${limit} (${what})`);
  if (succeededCount > completions) errors.push(atMost(completions, "the number of specified completions"));
  if (succeededIndexes !== undefined && succeededCount > total) {
    errors.push(atMost(total, "the number of indexes in the specified succeededIndexes field"));
  }
  return errors;
}
