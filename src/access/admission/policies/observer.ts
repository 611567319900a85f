/** Result of an expression, as used in metric labels. */
export type PolicyAction = "allow" | "deny" | "audit" | "warn";

/** Error type of an expression, as used in metric labels. */
export type PolicyErrorType = "no_error" | "compile_error" | "out_of_budget" | "invalid_error";

/** Receives the results of policies. Like upstream, validations that pass without an error are not reported. */
export interface PolicyObserver {
  validated(policy: string, binding: string, action: PolicyAction, errorType: PolicyErrorType, seconds: number): void;
  mutated(policy: string, binding: string, errorType: PolicyErrorType, seconds: number): void;
}

/** Ignores everything. */
export const unobservedPolicies: PolicyObserver = { validated: () => {}, mutated: () => {} };

/**
 * Compat: `ErrorType` classifies errors by the prefix of their message. A failed validation is also an invalid_error.
 */
export function errorTypeOf(message: string): PolicyErrorType {
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error";
}
