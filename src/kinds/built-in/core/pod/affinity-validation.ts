import { type FieldError, forbiddenField, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import { labelValue, qualifiedName } from "../../../../base/api/names.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { LabelSelector } from "../../../types/meta.ts";
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from "../../../types/pod.ts";
import { inRange, labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { validateLabelSelector } from "../../shared-rules/label-selector.ts";
import type { PodOptions } from "./pod-options.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** Validates `affinity`: nodeAffinity, podAffinity and podAntiAffinity. */
export function validateAffinity(errors: FieldError[], affinity: Affinity, path: string, options: PodOptions): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  const required = nodeAffinity?.[REQUIRED];
  if (required) {
    const allowsAnyValue = options.allowsInvalidNodeValues;
    validateNodeSelector(errors, required, `${path}.nodeAffinity.${REQUIRED}`, allowsAnyValue);
  }
  for (const [index, { weight = 0, preference = {} }] of (nodeAffinity?.[PREFERRED] ?? []).entries()) {
    const at = `${path}.nodeAffinity.${PREFERRED}[${index}]`;
    checkWeight(errors, weight, `${at}.weight`);
    checkTerm(errors, preference, `${at}.preference`, true);
  }
  if (podAffinity) checkPodAffinity(errors, podAffinity, `${path}.podAffinity`, options);
  if (podAntiAffinity) checkPodAffinity(errors, podAntiAffinity, `${path}.podAntiAffinity`, options);
}

function checkWeight(errors: FieldError[], weight: number, path: string): void {
  if (inRange(weight, 1, 100).length > 0) errors.push(invalidField(path, weight, "must be in the range 1-100"));
}

/** Validates a NodeSelector: its terms, of which at least one must match. */
export function validateNodeSelector(
  errors: FieldError[],
  { nodeSelectorTerms }: NodeSelector,
  path: string,
  allowsAnyValue = false,
): void {
  const terms = nodeSelectorTerms ?? [];
  if (terms.length === 0) {
    errors.push(requiredField(`${path}.nodeSelectorTerms`, "must have at least one node selector term"));
  }
  for (const [index, term] of terms.entries()) {
    checkTerm(errors, term, `${path}.nodeSelectorTerms[${index}]`, allowsAnyValue);
  }
}

function checkTerm(errors: FieldError[], term: NodeSelectorTerm, path: string, allowsAnyValue: boolean): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    checkRequirement(errors, requirement, `${path}.matchExpressions[${index}]`, allowsAnyValue);
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    checkFieldRequirement(errors, requirement, `${path}.matchFields[${index}]`);
  }
}

const NOT_AN_OPERATOR = "not a valid selector operator";

function checkRequirement(
  errors: FieldError[],
  { key = "", operator = "", values = [] }: NodeSelectorRequirement,
  path: string,
  allowsAnyValue: boolean,
): void {
  const at = `${path}.values`;
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        errors.push(requiredField(at, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        errors.push(forbiddenField(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        errors.push(requiredField(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
      break;
    default:
      errors.push(invalidField(`${path}.operator`, operator, NOT_AN_OPERATOR));
  }
  pushInvalid(errors, `${path}.key`, key, qualifiedName(key));
  if (allowsAnyValue) return;
  for (const [index, value] of values.entries()) pushInvalid(errors, `${at}[${index}]`, value, labelValue(value));
}

function checkFieldRequirement(
  errors: FieldError[],
  { key = "", operator = "", values = [] }: NodeSelectorRequirement,
  path: string,
): void {
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(invalidField(`${path}.operator`, operator, NOT_AN_OPERATOR));
  } else if (values.length !== 1) {
    const text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(requiredField(`${path}.values`, text));
  }
  if (key !== "metadata.name") {
    errors.push(invalidField(`${path}.key`, key, "not a valid field selector key"));
    return;
  }
  for (const [index, value] of values.entries()) {
    pushInvalid(errors, `${path}.values[${index}]`, value, subdomainName(value));
  }
}

function checkPodAffinity(errors: FieldError[], affinity: PodAffinity, path: string, options: PodOptions): void {
  for (const [index, term] of (affinity[REQUIRED] ?? []).entries()) {
    checkPodTerm(errors, term, `${path}.${REQUIRED}[${index}]`, options);
  }
  for (const [index, { weight = 0, podAffinityTerm = {} }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = `${path}.${PREFERRED}[${index}]`;
    checkWeight(errors, weight, `${at}.weight`);
    checkPodTerm(errors, podAffinityTerm, `${at}.podAffinityTerm`, options);
  }
}

/** Validates labelSelector and namespaceSelector of a PodAffinityTerm. */
export function validateTermSelectors(
  { labelSelector, namespaceSelector }: PodAffinityTerm,
  path: string,
  allowsInvalidValues = false,
): FieldError[] {
  return [
    ...validateLabelSelector(labelSelector, `${path}.labelSelector`, { allowsInvalidValues }),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, { allowsInvalidValues }),
  ];
}

function checkPodTerm(errors: FieldError[], term: PodAffinityTerm, path: string, options: PodOptions): void {
  const { namespaces = [], topologyKey = "", matchLabelKeys, mismatchLabelKeys, labelSelector } = term;
  addAll(errors, validateTermSelectors(term, path, options.allowsInvalidSelectorValues));
  for (const name of namespaces) pushInvalid(errors, `${path}.namespace`, name, labelName(name));
  addAll(errors, validateLabelKeys({ matchLabelKeys, mismatchLabelKeys, labelSelector }, path));
  if (topologyKey === "") errors.push(requiredField(`${path}.topologyKey`, "can not be empty"));
  pushInvalid(errors, `${path}.topologyKey`, topologyKey, qualifiedName(topologyKey));
}

/** A labelSelector with matchLabelKeys and mismatchLabelKeys. */
export interface KeyedSelector {
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
  readonly labelSelector?: LabelSelector;
}

/** Validates matchLabelKeys and mismatchLabelKeys. */
export function validateLabelKeys(keyed: KeyedSelector, path: string): FieldError[] {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = keyed;
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return [];
  const errors: FieldError[] = [];
  checkKeys(errors, matchLabelKeys, `${path}.matchLabelKeys`, labelSelector);
  checkKeys(errors, mismatchLabelKeys, `${path}.mismatchLabelKeys`, labelSelector);
  if (labelSelector) {
    const seen = new Set(Object.keys(labelSelector.matchLabels ?? {}));
    for (const { key = "" } of labelSelector.matchExpressions ?? []) {
      const index = matchLabelKeys.lastIndexOf(key);
      if (index >= 0 && seen.has(key)) {
        errors.push(invalidField(`${path}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
      }
      seen.add(key);
    }
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    const text = "exists in both matchLabelKeys and mismatchLabelKeys";
    errors.push(invalidField(`${path}.matchLabelKeys[${index}]`, key, text));
  }
  return errors;
}

function checkKeys(
  errors: FieldError[],
  keys: readonly string[],
  path: string,
  selector: LabelSelector | undefined,
): void {
  if (keys.length === 0) return;
  if (!selector) {
    errors.push(forbiddenField(path, "must not be specified when labelSelector is not set"));
    return;
  }
  for (const [index, key] of keys.entries()) pushInvalid(errors, `${path}[${index}]`, key, qualifiedName(key));
}
