import { type FieldError, forbiddenField, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { labelValue, qualifiedName } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { validateLabels } from "../../../resources/write/metadata-validation.ts";
import type { LabelSelector, LabelSelectorRequirement, Texts } from "../../types/meta.ts";

/** What validation of a label selector tolerates because the stored object has it. */
export interface SelectorOptions {
  /** Values of expressions need not be label values. */
  readonly allowsInvalidValues?: boolean;
  /** Expressions may have unknown operators. */
  readonly allowsUnknownOperators?: boolean;
}

/** Validates a LabelSelector. Returns no errors if it is missing. */
export function validateLabelSelector(
  selector: Json | undefined,
  path: string,
  options: SelectorOptions = {},
): FieldError[] {
  if (!isObject(selector)) return [];
  const { matchLabels, matchExpressions }: LabelSelector = selector;
  const errors = validateLabels(matchLabels ?? {}, `${path}.matchLabels`);
  for (const [index, expression] of (matchExpressions ?? []).entries()) {
    addAll(errors, validateRequirement(expression, `${path}.matchExpressions[${index}]`, options));
  }
  return errors;
}

/** Validates that the values of a LabelSelectorRequirement match its operator. */
export function validateOperator(
  { operator = "", values = [] }: LabelSelectorRequirement,
  path: string,
  { allowsUnknownOperators = false }: SelectorOptions,
): FieldError[] {
  if (operator === "In" || operator === "NotIn") {
    const text = "must be specified when `operator` is 'In' or 'NotIn'";
    return values.length === 0 ? [requiredField(`${path}.values`, text)] : [];
  }
  if (operator === "Exists" || operator === "DoesNotExist") {
    const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    return values.length > 0 ? [forbiddenField(`${path}.values`, text)] : [];
  }
  return allowsUnknownOperators ? [] : [invalidField(`${path}.operator`, operator, "not a valid selector operator")];
}

/** Validates a LabelSelectorRequirement. */
export function validateRequirement(
  requirement: LabelSelectorRequirement,
  path: string,
  options: SelectorOptions,
): FieldError[] {
  const { key = "", values = [] } = requirement;
  const errors = validateOperator(requirement, path, options);
  addAll(
    errors,
    qualifiedName(key).map((text) => invalidField(`${path}.key`, key, text)),
  );
  if (options.allowsInvalidValues) return errors;
  for (const [index, value] of values.entries()) {
    addAll(
      errors,
      labelValue(value).map((text) => invalidField(`${path}.values[${index}]`, value, text)),
    );
  }
  return errors;
}

/** Whether a stored LabelSelector has an invalid label value. */
export function hasInvalidValue(selector: Json | undefined): boolean {
  if (!isObject(selector)) return false;
  const { matchExpressions = [] }: LabelSelector = selector;
  return matchExpressions.some(({ values = [] }) => values.some((value) => labelValue(value).length > 0));
}

/** Whether a selector has no requirements and so matches everything. */
export function isEmptySelector(selector: JsonObject): boolean {
  const { matchLabels = {}, matchExpressions = [] }: LabelSelector = selector;
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** A LabelSelector with its members in the order of the Go struct. */
export function orderedSelector(selector: Json | undefined): Json | undefined {
  if (!isObject(selector)) return selector;
  const { matchLabels, matchExpressions }: LabelSelector = selector;
  return {
    ...(matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels: orderedTexts(matchLabels) } : {}),
    ...(matchExpressions && matchExpressions.length > 0
      ? {
          matchExpressions: matchExpressions.map(({ key = "", operator = "", values }) => ({
            key,
            operator,
            ...(values && values.length > 0 ? { values } : {}),
          })),
        }
      : {}),
  };
}

/** A map with its keys sorted, as Go's encoding/json prints it. */
export function orderedTexts(texts: Texts | undefined): Texts | undefined {
  if (texts === undefined) return undefined;
  return Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
