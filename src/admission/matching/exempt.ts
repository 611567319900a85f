import { isInGroup } from "../matches.ts";
import type { AdmissionRequest } from "../plugin.ts";

const CONFIGURATION: ReadonlySet<string> = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
]);

/**
 * Whether a request is about the configuration of admission itself, which no webhook or policy of the cluster sees: nobody
 * can lock out who wants to repair it. Upstream: `IsExemptAdmissionConfigurationResource`.
 */
export function isAdmissionConfiguration({ resource: { definition } }: AdmissionRequest): boolean {
  return CONFIGURATION.has(definition.kind) && isInGroup(definition, "admissionregistration.k8s.io");
}

/**
 * Whether a request is about policies or their bindings, which no policy of the cluster sees. Webhook configurations are
 * none of these. Upstream: `admissionResources`.
 */
export function isPolicyConfiguration({ resource: { definition } }: AdmissionRequest): boolean {
  return definition.kind.includes("AdmissionPolicy") && isInGroup(definition, "admissionregistration.k8s.io");
}

const REVIEWS: ReadonlyMap<string, string> = new Map([
  ["selfsubjectreviews", "authentication.k8s.io"],
  ["tokenreviews", "authentication.k8s.io"],
  ["localsubjectaccessreviews", "authorization.k8s.io"],
  ["selfsubjectaccessreviews", "authorization.k8s.io"],
  ["selfsubjectrulesreviews", "authorization.k8s.io"],
  ["subjectaccessreviews", "authorization.k8s.io"],
]);

/**
 * Whether a request is a question about callers, which no webhook or policy sees: the cluster must not be locked out of its
 * own authentication. Upstream: `ExcludeAdmissionWebhookVirtualResources`.
 */
export function isReview({ resource: { definition } }: AdmissionRequest): boolean {
  const group = REVIEWS.get(definition.plural);
  return group !== undefined && isInGroup(definition, group);
}
