import type { JsonObject } from "../api/object.ts";
import type { LabelSelector } from "./meta.ts";

/** RuleWithOperations of admissionregistration.k8s.io: which requests are meant. */
export interface Rule extends JsonObject {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
  resourceNames?: string[];
}

/** MatchResources of admissionregistration.k8s.io: which objects and requests a policy is about. */
export interface MatchResources extends JsonObject {
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
}

/** MatchCondition of admissionregistration.k8s.io: a CEL expression that a request must fulfil. */
export interface MatchCondition extends JsonObject {
  name?: string;
  expression?: string;
}

/** ServiceReference of admissionregistration.k8s.io. */
export interface WebhookService extends JsonObject {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

/** ValidatingWebhook or MutatingWebhook of admissionregistration.k8s.io. */
export interface Webhook extends JsonObject {
  name?: string;
  clientConfig?: { url?: string; service?: WebhookService; caBundle?: string };
  rules?: Rule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects?: string | null;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  matchConditions?: MatchCondition[];
  /** Only of a MutatingWebhook. */
  reinvocationPolicy?: string;
}
