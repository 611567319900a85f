import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { labelValue, qualifiedName } from "../../../../base/api/names.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type {
  PodSchedulingGate,
  PodSchedulingGroup,
  Toleration,
  TopologySpreadConstraint,
} from "../../../types/pod.ts";
import { pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { validateLabelSelector } from "../../shared-rules/label-selector.ts";
import { validateLabelKeys } from "./affinity-validation.ts";
import type { PodOptions } from "./pod-options.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Validates tolerations. */
export function validateTolerations(
  errors: FieldError[],
  tolerations: readonly Toleration[],
  path: string,
  options: PodOptions,
): void {
  for (const [index, toleration] of tolerations.entries()) {
    const at = `${path}[${index}]`;
    const { key = "", operator = "", effect = "", tolerationSeconds } = toleration;
    if (key !== "") pushInvalid(errors, `${at}.key`, key, qualifiedName(key));
    if (key === "" && operator !== "Exists") {
      const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidField(`${at}.operator`, operator, text));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalidField(`${at}.effect`, effect, text));
    }
    checkOperator(errors, toleration, at, options);
    if (effect !== "" && !EFFECTS.includes(effect)) errors.push(notSupportedField(`${at}.effect`, effect, EFFECTS));
  }
}

function checkOperator(
  errors: FieldError[],
  { operator = "", value = "" }: Toleration,
  path: string,
  options: PodOptions,
): void {
  const at = `${path}.operator`;
  switch (operator) {
    case "Equal":
    case "": {
      const texts = labelValue(value);
      if (texts.length > 0) errors.push(invalidField(at, value, texts.join(";")));
      break;
    }
    case "Exists":
      if (value !== "") errors.push(invalidField(at, value, "value must be empty when `operator` is 'Exists'"));
      break;
    case "Lt":
    case "Gt":
      if (options.allowsComparisons) checkNumber(errors, value, `${path}.value`);
      else errors.push(notSupportedField(at, operator, ["Equal", "Exists", "Lt", "Gt"]));
      break;
    default:
      errors.push(notSupportedField(at, operator, ["Equal", "Exists"]));
  }
}

function checkNumber(errors: FieldError[], value: string, path: string): void {
  const parses = /^[+-]?[0-9]+$/.test(value);
  if (value === "") {
    errors.push(invalidField(path, value, "must be non-empty"));
  } else if (!INTEGER.test(value)) {
    errors.push(invalidField(path, value, "must be a valid decimal integer in canonical form"));
  }
  if (!parses) {
    errors.push(invalidField(path, value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`));
  } else if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    errors.push(invalidField(path, value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`));
  }
}

/** Validates schedulingGates. */
export function validateSchedulingGates(errors: FieldError[], gates: readonly PodSchedulingGate[], path: string): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of gates.entries()) {
    pushInvalid(errors, `${path}[${index}]`, name, qualifiedName(name));
    if (seen.has(name)) errors.push(duplicateField(`${path}[${index}]`, name));
    seen.add(name);
  }
}

/** Validates schedulingGroup: the PodGroup of a pod. */
export function validateSchedulingGroup(errors: FieldError[], group: PodSchedulingGroup, path: string): void {
  const { podGroupName: name } = group;
  const at = `${path}.podGroupName`;
  if (name === undefined) errors.push(invalidField(at, undefined, "must specify one of: `podGroupName`"));
  else pushInvalid(errors, at, name, subdomainName(name));
}

const WHEN_UNSATISFIABLE = ["DoNotSchedule", "ScheduleAnyway"];
const POLICIES = ["Honor", "Ignore"];
const NOT_POSITIVE = "must be greater than zero";

/** A key that must be unique among TopologySpreadConstraints. */
function kindOf({ topologyKey = "", whenUnsatisfiable = "" }: TopologySpreadConstraint): string {
  return JSON.stringify([topologyKey, whenUnsatisfiable]);
}

/** Validates topologySpreadConstraints. */
export function validateSpread(
  errors: FieldError[],
  constraints: readonly TopologySpreadConstraint[],
  path: string,
  options: PodOptions,
): void {
  const last = new Map(constraints.map((constraint, index) => [kindOf(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const at = `${path}[${index}]`;
    const { maxSkew = 0, topologyKey = "", whenUnsatisfiable = "" } = constraint;
    if (maxSkew <= 0) errors.push(invalidField(`${at}.maxSkew`, maxSkew, NOT_POSITIVE));
    if (topologyKey === "") errors.push(requiredField(`${at}.topologyKey`, "can not be empty"));
    if (!WHEN_UNSATISFIABLE.includes(whenUnsatisfiable)) {
      errors.push(notSupportedField(`${at}.whenUnsatisfiable`, whenUnsatisfiable, WHEN_UNSATISFIABLE));
    }
    const isRepeated = (last.get(kindOf(constraint)) ?? 0) > index;
    if (isRepeated) {
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
      errors.push(duplicateField(`${at}.{topologyKey, whenUnsatisfiable}`, pair));
    }
    checkMinDomains(errors, constraint, `${at}.minDomains`);
    for (const member of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
      const policy = constraint[member];
      if (policy === undefined || POLICIES.includes(policy)) continue;
      errors.push(notSupportedField(`${at}.${member}`, policy, POLICIES));
    }
    if (options.spreadKeysWereWrong) checkOldLabelKeys(errors, constraint, `${at}.matchLabelKeys`);
    else addAll(errors, validateLabelKeys(spreadSelector(constraint), at));
    if (!options.allowsInvalidSpreadSelector) {
      addAll(errors, validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`));
    }
  }
}

/** matchLabelKeys and labelSelector of a TopologySpreadConstraint. */
export function spreadSelector({ matchLabelKeys, labelSelector }: TopologySpreadConstraint) {
  return { matchLabelKeys, labelSelector };
}

function checkMinDomains(errors: FieldError[], constraint: TopologySpreadConstraint, path: string): void {
  const { minDomains, whenUnsatisfiable = "" } = constraint;
  if (minDomains === undefined) return;
  if (minDomains <= 0) errors.push(invalidField(path, minDomains, NOT_POSITIVE));
  if (whenUnsatisfiable === "DoNotSchedule") return;
  const text = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  errors.push(invalidField(path, minDomains, text));
}

/**
 * Compat: a pod that violates the newer rule for `matchLabelKeys` (`OldPodViolatesMatchLabelKeysValidation`) is
 * validated by the older one.
 */
function checkOldLabelKeys(errors: FieldError[], constraint: TopologySpreadConstraint, path: string): void {
  const { matchLabelKeys = [], labelSelector } = constraint;
  if (matchLabelKeys.length === 0) return;
  if (!labelSelector) errors.push(forbiddenField(path, "must not be specified when labelSelector is not set"));
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key = "" }) => key),
  ]);
  for (const [index, key] of matchLabelKeys.entries()) {
    pushInvalid(errors, `${path}[${index}]`, key, qualifiedName(key));
    if (!selected.has(key)) continue;
    errors.push(invalidField(`${path}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
  }
}
