import { type FieldError, notSupportedField, requiredField } from "../../../../base/api/field-error.ts";

const POLICIES = ["Always", "IfNotPresent", "Never"];

/** Validates imagePullPolicy. */
export function checkPullPolicy(errors: FieldError[], policy: string, path: string): void {
  if (policy === "") errors.push(requiredField(path));
  else if (!POLICIES.includes(policy)) errors.push(notSupportedField(path, policy, POLICIES));
}
