import type { JsonObject } from "../../base/api/object.ts";
import type { LabelSelector } from "./meta.ts";

/** RuleWithOperations of admissionregistration.k8s.io: selects requests. */
export interface Rule extends JsonObject {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
  resourceNames?: string[];
}

/** MatchResources of admissionregistration.k8s.io: the objects and requests that a policy applies to. */
export interface MatchResources extends JsonObject {
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
}

/** MatchCondition of admissionregistration.k8s.io: a CEL expression that must be true for a request. */
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

/** An object with a CEL expression. */
export interface Expression extends JsonObject {
  expression?: string;
}

/** Variable of admissionregistration.k8s.io: a named expression that others can use. */
export interface Variable extends Expression {
  name?: string;
}

/** Validation of a ValidatingAdmissionPolicy. */
export interface Validation extends Expression {
  message?: string;
  messageExpression?: string;
  reason?: string;
}

/** AuditAnnotation of a ValidatingAdmissionPolicy. */
export interface AuditAnnotation extends JsonObject {
  key?: string;
  valueExpression?: string;
}

/** Mutation of a MutatingAdmissionPolicy. */
export interface Mutation extends JsonObject {
  patchType?: string;
  applyConfiguration?: Expression;
  jsonPatch?: Expression;
}

/** ParamKind of admissionregistration.k8s.io. */
export interface ParamKind extends JsonObject {
  apiVersion?: string;
  kind?: string;
}

/** The spec of a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy. */
export interface PolicySpec extends JsonObject {
  failurePolicy?: string;
  paramKind?: ParamKind;
  matchConstraints?: MatchResources;
  matchConditions?: MatchCondition[];
  variables?: Variable[];
  /** Only of a ValidatingAdmissionPolicy. */
  validations?: Validation[];
  /** Only of a ValidatingAdmissionPolicy. */
  auditAnnotations?: AuditAnnotation[];
  /** Only of a MutatingAdmissionPolicy. */
  mutations?: Mutation[];
  /** Only of a MutatingAdmissionPolicy. */
  reinvocationPolicy?: string;
}

/** ParamRef of admissionregistration.k8s.io. */
export interface ParamRef extends JsonObject {
  name?: string;
  namespace?: string;
  selector?: LabelSelector;
  parameterNotFoundAction?: string;
}

/** The spec of a ValidatingAdmissionPolicyBinding or a MutatingAdmissionPolicyBinding. */
export interface PolicyBindingSpec extends JsonObject {
  policyName?: string;
  paramRef?: ParamRef;
  matchResources?: MatchResources;
  /** Only of a ValidatingAdmissionPolicyBinding. */
  validationActions?: string[];
}
