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
 * Whether a request is for the configuration of admission itself. Stored webhooks and policies never apply to it, so
 * that a broken configuration can always be repaired. Upstream: `IsExemptAdmissionConfigurationResource`.
 */
export function isAdmissionConfiguration({ resource: { definition } }: AdmissionRequest): boolean {
  return CONFIGURATION.has(definition.kind) && isInGroup(definition, "admissionregistration.k8s.io");
}

/**
 * Whether a request is for policies or bindings, to which stored policies never apply. Webhook configurations are not
 * included. Upstream: `admissionResources`.
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
 * Whether a request is a token or access review. Webhooks and policies never apply to these, so that they cannot break
 * the cluster's authentication. Upstream: `ExcludeAdmissionWebhookVirtualResources`.
 */
export function isReview({ resource: { definition } }: AdmissionRequest): boolean {
  const group = REVIEWS.get(definition.plural);
  return group !== undefined && isInGroup(definition, group);
}
