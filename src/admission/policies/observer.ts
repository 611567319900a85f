/** What became of one expression of a policy, as metrics call it. */
export type PolicyAction = "allow" | "deny" | "audit" | "warn";

/** Why an expression did not say yes, as metrics call it. */
export type PolicyErrorType = "no_error" | "compile_error" | "out_of_budget" | "invalid_error";

/** Hears what policies do. What a ValidatingAdmissionPolicy lets pass without an error is not told, as upstream. */
export interface PolicyObserver {
  validated(policy: string, binding: string, action: PolicyAction, errorType: PolicyErrorType, seconds: number): void;
  mutated(policy: string, binding: string, errorType: PolicyErrorType, seconds: number): void;
}

/** Hears nothing. */
export const unobservedPolicies: PolicyObserver = { validated: () => {}, mutated: () => {} };

/** Compat: `ErrorType` knows errors by how their texts begin; a plain no is an invalid_error, too. */
export function errorTypeOf(message: string): PolicyErrorType {
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error";
}
