import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { Condition } from "../shared-rules/conditions.ts";
import { sameValue } from "../shared-rules/immutable.ts";

const STATUSES = ["False", "True", "Unknown"];
/** Conditions that must be True and are never removed once a CertificateSigningRequest has them. */
const FINAL_TYPES = ["Approved", "Denied", "Failed"];

/** `status.conditions` of a CertificateSigningRequest, in order. */
export function conditionsOf(request: KubeObject | undefined): readonly Condition[] {
  const conditions = isObject(request?.status) ? request.status.conditions : undefined;
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

/** All conditions of a CertificateSigningRequest of one type. */
export function conditionsOfType(request: KubeObject | undefined, type: string): readonly Condition[] {
  return conditionsOf(request).filter((condition) => (condition.type ?? "") === type);
}

const typesOf = (request: KubeObject | undefined): string[] => conditionsOf(request).map(({ type = "" }) => type);

/**
 * Validates each condition separately, like upstream's `validateConditions`. Duplicate types are tolerated if the
 * stored request already has them.
 */
export function conditionErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const before = typesOf(previous);
  const allowsEmpty = before.includes("");
  const allowsDuplicates = new Set(before).size < before.length;
  const seen = new Set<string>();
  return conditionsOf(next).flatMap(({ type = "", status = "" }, index) => {
    const path = `status.conditions[${index}]`;
    const errors: FieldError[] = type === "" && !allowsEmpty ? [requiredField(`${path}.type`)] : [];
    const allowed = FINAL_TYPES.includes(type) ? ["True"] : STATUSES;
    if (status === "") errors.push(requiredField(`${path}.status`));
    else if (!allowed.includes(status)) errors.push(notSupportedField(`${path}.status`, status, allowed));
    if (seen.has(type) && !allowsDuplicates) errors.push(duplicateField(`${path}.type`, type));
    seen.add(type);
    return errors;
  });
}

/**
 * Rejects a CertificateSigningRequest that is both Approved and Denied. Compat: the message "must specify at most one
 * of" belongs to declarative validation and comes after all errors of `validateConditions`.
 */
export function verdictErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  if (previous && sameValue([...conditionsOf(next)], [...conditionsOf(previous)])) return [];
  const isBoth = (types: readonly string[]) => types.includes("Approved") && types.includes("Denied");
  if (!isBoth(typesOf(next)) || isBoth(typesOf(previous))) return [];
  const [approved, denied] = ["Approved", "Denied"].map((type) => `conditions[{"type": "${type}"}]`);
  const text = `must specify at most one of: \`${approved}\`, \`${denied}\``;
  return [invalidField("status.conditions", `{${approved}, ${denied}}`, text)];
}
