import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../api/field-error.ts";
import { isObject, type KubeObject } from "../../api/object.ts";
import type { Condition } from "../rules/conditions.ts";
import { sameValue } from "../rules/immutable.ts";

const STATUSES = ["False", "True", "Unknown"];
/** Conditions that, once a CertificateSigningRequest has them, are True and are never removed. */
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
 * Validates each condition by itself, like upstream's `validateConditions`. Duplicate types are let be when the stored
 * request has them already.
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
 * A CertificateSigningRequest is not both Approved and Denied. Compat: the message "must specify at most one of" is
 * declarative validation's and stands after all errors of `validateConditions`.
 */
export function verdictErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  if (previous && sameValue([...conditionsOf(next)], [...conditionsOf(previous)])) return [];
  const isBoth = (types: readonly string[]) => types.includes("Approved") && types.includes("Denied");
  if (!isBoth(typesOf(next)) || isBoth(typesOf(previous))) return [];
  const [approved, denied] = ["Approved", "Denied"].map((type) => `conditions[{"type": "${type}"}]`);
  const text = `must specify at most one of: \`${approved}\`, \`${denied}\``;
  return [invalidField("status.conditions", `{${approved}, ${denied}}`, text)];
}
