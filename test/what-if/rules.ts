import type { JsonObject } from "../../src/base/api/object.ts";

const labels = { type: "object", additionalProperties: { type: "string" } };

const definition = (kind: string, plural: string, scope: string, versions: readonly JsonObject[]): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.shop.example` },
  spec: {
    group: "shop.example",
    scope,
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [...versions],
  },
});

const version = (name: string, storage: boolean, spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec, status: { type: "object", properties: {} } } } },
  ...more,
});

const widgetSpec: JsonObject = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, default: 1 },
    colour: { type: "string", default: "blue" },
    parts: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    labels,
  },
  "x-kubernetes-validations": [
    { rule: "self.size < 5 || self.parts.exists(p, p.name == 'a')", message: "large widgets have a part a" },
  ],
};
const regionSpec: JsonObject = {
  type: "object",
  properties: { zones: { type: "array", items: { type: "string" } }, tier: { type: "string", enum: ["gold", "tin"] } },
};

/** Kinds of the cluster. Regions are stored in another version than manifests speak. */
export const DEFINITIONS: readonly JsonObject[] = [
  definition("Widget", "widgets", "Namespaced", [version("v1", true, widgetSpec, { subresources: { status: {} } })]),
  definition("Region", "regions", "Cluster", [version("v1beta1", false, regionSpec), version("v1", true, regionSpec)]),
];

/** A kind that is defined by manifests. */
export const LATE_DEFINITION: JsonObject = definition("Gadget", "gadgets", "Namespaced", [
  version("v1", true, { type: "object", properties: { size: { type: "integer", default: 7 } } }),
]);

const everything = [
  { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: ["*"], scope: "*" },
];

/** Rules by which requests are refused: a policy with a parameter, and what alice may do. */
export const RULES: readonly JsonObject[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "policy", namespace: "shop-3" },
    data: { label: "forbidden" },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "labels" },
    spec: {
      failurePolicy: "Fail",
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: { resourceRules: everything },
      matchConditions: [
        { name: "of-the-shop", expression: "has(object.metadata.labels) && 'app' in object.metadata.labels" },
      ],
      validations: [
        {
          expression: "!(params.data.label in object.metadata.labels)",
          messageExpression: "'the label ' + params.data.label + ' is for nobody'",
          reason: "Forbidden",
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "labels-everywhere" },
    spec: {
      policyName: "labels",
      validationActions: ["Deny"],
      paramRef: { name: "policy", namespace: "shop-3", parameterNotFoundAction: "Deny" },
    },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "alice", namespace: "shop-0" },
    rules: [{ apiGroups: ["", "apps"], resources: ["configmaps", "deployments"], verbs: ["create", "patch"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "alice", namespace: "shop-0" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "alice" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "limits", namespace: "shop-3" },
    spec: { limits: [{ type: "Container", default: { cpu: "500m" }, max: { cpu: "2" } }] },
  },
];

/** What the namespaces with quotas may have besides what is in them. */
export const QUOTA: JsonObject = { configmaps: "3", "count/widgets.shop.example": "2", pods: "1", services: "1" };
