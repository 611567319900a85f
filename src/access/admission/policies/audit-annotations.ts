import type { AdmissionRequest } from "../plugin.ts";

/** Audit annotation of a failed validation with the action Audit. Upstream: `ValidationFailureValue`. */
export interface ValidationFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

const FAILURES = "validation.policy.admission.k8s.io/validation_failure";
/** Compat: `maxValidationFailures`. */
const MAX_FAILURES = 50;
/** Compat: `maxAuditAnnotationValueLength`, in bytes. */
const MAX_VALUE = 10 * 1024;

/** Adds an audit annotation with all validations that failed with the action Audit. */
export function publishFailures(request: AdmissionRequest, failures: readonly ValidationFailure[]): void {
  if (failures.length > 0) request.annotate?.(FAILURES, JSON.stringify(failures.slice(0, MAX_FAILURES)));
}

/**
 * Collects the audit annotations of one policy from all of its bindings and params. Upstream:
 * `auditAnnotationCollector`.
 */
export class AnnotationCollector {
  readonly #values = new Map<string, Set<string>>();

  add(key: string, value: string): void {
    const values = this.#values.get(key) ?? new Set();
    this.#values.set(key, values.add(cut(value)));
  }

  publish(policy: string, request: AdmissionRequest): void {
    for (const [key, values] of this.#values) request.annotate?.(`${policy}/${key}`, [...values].join(", "));
  }
}

function cut(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length <= MAX_VALUE ? value : bytes.subarray(0, MAX_VALUE).toString();
}
