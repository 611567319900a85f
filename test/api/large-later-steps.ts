import type { JsonObject } from "../../src/base/api/object.ts";
import type { WebhookServer } from "../support/webhook-server.ts";
import { patching } from "../support/webhook-server.ts";
import type { Step } from "./large-steps.ts";

const GROUP = "large.example.com";
const CRATES = `/apis/${GROUP}/v1/namespaces/default/crates`;
const BOXES = "/namespaces/default/boxes";
const OPEN = "/apis/open.example.com";
const MAPS = "/api/v1/namespaces/default/configmaps";
const SECRETS = "/api/v1/namespaces/default/secrets";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const LARGE = "x".repeat(100_000);
const type = (name: string) => ({ "content-type": `application/${name}` });
const labelled = (label: string) => ({ objectSelector: { matchLabels: { [label]: "yes" } } });
const rule = (group: string, resources: string) => ({
  apiGroups: [group],
  apiVersions: ["*"],
  operations: ["CREATE", "UPDATE"],
  resources: [resources],
});

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        text: { type: "string" },
        color: { type: "string", default: "red" },
        count: { type: "integer", maximum: 10 },
        replicas: { type: "integer" },
      },
      "x-kubernetes-validations": [{ rule: "self.color != 'none'", message: "a color is needed" }],
    },
    status: { type: "object", properties: { text: { type: "string" }, replicas: { type: "integer" } } },
  },
};

const definition = {
  metadata: { name: `crates.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "crates", singular: "crate", kind: "Crate", listKind: "CrateList" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [{ name: "Color", type: "string", jsonPath: ".spec.color" }],
      },
    ],
  },
};

const policy = (name: string, matchConstraints: JsonObject, spec: JsonObject): JsonObject => ({
  metadata: { name },
  spec: { failurePolicy: "Fail", matchConstraints, ...spec },
});
const binding = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { policyName: name, validationActions: ["Deny"], ...spec },
});

/** Objects to create first: a definition, policies, one of them with a param of the defined kind, and webhooks. */
export function laterObjects(webhooks: WebhookServer): readonly (readonly [path: string, object: JsonObject])[] {
  webhooks.behaviours.set("label", patching({ op: "add", path: "/metadata/labels", value: { seen: "yes" } }));
  const webhook = (name: string, behaviour: string, more: JsonObject): JsonObject => ({
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url: webhooks.url("any", behaviour), caBundle: webhooks.caBundle },
        ...{ sideEffects: "None", admissionReviewVersions: ["v1"], timeoutSeconds: 30, ...more },
      },
    ],
  });
  const params = { paramKind: { apiVersion: `${GROUP}/v1`, kind: "Crate" } };
  const paramRef = { name: "param", namespace: "default", parameterNotFoundAction: "Deny" };
  return [
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition],
    [
      `${ADMISSION}/validatingadmissionpolicies`,
      policy(
        "short",
        { resourceRules: [rule("", "configmaps")], ...labelled("short") },
        {
          validations: [
            {
              expression: "size(object.data.large) < 100",
              messageExpression: "'it has ' + string(size(object.data.large))",
            },
          ],
        },
      ),
    ],
    [`${ADMISSION}/validatingadmissionpolicybindings`, binding("short")],
    [
      `${ADMISSION}/validatingadmissionpolicies`,
      policy(
        "like-param",
        { resourceRules: [rule(GROUP, "crates")], ...labelled("judged") },
        { ...params, validations: [{ expression: "object.spec.color == params.spec.color" }] },
      ),
    ],
    [`${ADMISSION}/validatingadmissionpolicybindings`, binding("like-param", { paramRef })],
    [
      `${ADMISSION}/mutatingadmissionpolicies`,
      policy(
        "mark",
        { resourceRules: [rule("", "secrets")] },
        {
          reinvocationPolicy: "Never",
          mutations: [
            {
              patchType: "ApplyConfiguration",
              applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'marked': 'yes'}}}" },
            },
          ],
        },
      ),
    ],
    [`${ADMISSION}/mutatingadmissionpolicybindings`, { metadata: { name: "mark" }, spec: { policyName: "mark" } }],
    [
      `${ADMISSION}/mutatingwebhookconfigurations`,
      webhook("label", "label", { rules: [rule("coordination.k8s.io", "leases")] }),
    ],
    [
      `${ADMISSION}/validatingwebhookconfigurations`,
      webhook("deny", "deny", { rules: [rule(GROUP, "crates")], ...labelled("denied") }),
    ],
  ];
}

const crate = (name: string, spec: JsonObject = {}, labels: JsonObject = {}) =>
  JSON.stringify({
    apiVersion: `${GROUP}/v1`,
    kind: "Crate",
    metadata: { name, labels },
    spec: { text: LARGE, ...spec },
  });
const box = (name: string, version = "v1", kind = "Box") =>
  JSON.stringify({ apiVersion: `open.example.com/${version}`, kind, metadata: { name }, any: { text: LARGE } });
const map = (name: string, labels: JsonObject) =>
  JSON.stringify({ metadata: { name, labels }, data: { large: LARGE } });

const defined: readonly Step[] = [
  { title: "create", method: "POST", path: CRATES, body: crate("a"), status: 201 },
  { title: "create with a wrong type", method: "POST", path: CRATES, body: crate("b", { count: "1" }), status: 422 },
  { title: "create above a maximum", method: "POST", path: CRATES, body: crate("b", { count: 11 }), status: 422 },
  { title: "create against a rule", method: "POST", path: CRATES, body: crate("b", { color: "none" }), status: 422 },
  { title: "create with an unknown field", method: "POST", path: CRATES, body: crate("b", { other: 1 }), status: 201 },
  {
    title: "create with an unknown field that is refused",
    method: "POST",
    path: `${CRATES}?fieldValidation=Strict`,
    body: crate("c", { other: 1 }),
    status: 400,
  },
  {
    title: "a strategic merge patch",
    method: "PATCH",
    path: `${CRATES}/a`,
    headers: type("strategic-merge-patch+json"),
    body: crate("a"),
    status: 415,
    staysHere: true,
  },
  {
    title: "a merge patch",
    method: "PATCH",
    path: `${CRATES}/a`,
    headers: type("merge-patch+json"),
    body: JSON.stringify({ spec: { text: "y".repeat(100_000) } }),
    status: 200,
  },
  {
    title: "a JSON patch",
    method: "PATCH",
    path: `${CRATES}/a`,
    headers: type("json-patch+json"),
    body: JSON.stringify([{ op: "add", path: "/spec/count", value: 3 }]),
    status: 200,
  },
  {
    title: "apply that creates",
    method: "PATCH",
    path: `${CRATES}/applied?fieldManager=one`,
    headers: type("apply-patch+yaml"),
    body: crate("applied"),
    status: 201,
  },
  {
    title: "apply that conflicts",
    method: "PATCH",
    path: `${CRATES}/applied?fieldManager=two`,
    headers: type("apply-patch+yaml"),
    body: crate("applied", { text: "z".repeat(100_000) }),
    status: 409,
  },
  { title: "read as YAML", method: "GET", path: `${CRATES}/a`, headers: { accept: "application/yaml" }, status: 200 },
  {
    title: "read as a Table",
    method: "GET",
    path: `${CRATES}/a`,
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    status: 200,
  },
  { title: "read as JSON", method: "GET", path: `${CRATES}/a`, status: 200, staysHere: true },
  { title: "replace", method: "PUT", path: `${CRATES}/a`, body: (previous) => previous, status: 200 },
  {
    title: "change the status",
    method: "PATCH",
    path: `${CRATES}/a/status`,
    headers: type("merge-patch+json"),
    body: JSON.stringify({ status: { text: LARGE } }),
    status: 200,
  },
  {
    title: "change the scale",
    method: "PATCH",
    path: `${CRATES}/a/scale`,
    headers: type("merge-patch+json"),
    body: JSON.stringify({ spec: { replicas: 2 } }),
    status: 200,
  },
  { title: "delete", method: "DELETE", path: `${CRATES}/applied`, status: 200 },
];

const open: readonly Step[] = [
  { title: "create the first one", method: "POST", path: `${OPEN}/v1${BOXES}`, body: box("a"), status: 201 },
  { title: "create the next one", method: "POST", path: `${OPEN}/v1${BOXES}`, body: box("b"), status: 201 },
  {
    title: "create of another kind",
    method: "POST",
    path: `${OPEN}/v1${BOXES}`,
    body: box("c", "v1", "Case"),
    status: 422,
  },
  {
    title: "apply in another version",
    method: "PATCH",
    path: `${OPEN}/v2${BOXES}/c?fieldManager=one`,
    headers: type("apply-patch+yaml"),
    body: box("c", "v2"),
    status: 201,
  },
  {
    title: "a merge patch",
    method: "PATCH",
    path: `${OPEN}/v1${BOXES}/a`,
    headers: type("merge-patch+json"),
    body: JSON.stringify({ any: { more: LARGE } }),
    status: 200,
  },
  {
    title: "read as YAML",
    method: "GET",
    path: `${OPEN}/v1${BOXES}/a`,
    headers: { accept: "application/yaml" },
    status: 200,
  },
  { title: "read of what it knows now", method: "GET", path: `${OPEN}/v2${BOXES}/c`, status: 200 },
];

const admission: readonly Step[] = [
  { title: "what a policy refuses", method: "POST", path: MAPS, body: map("a", { short: "yes" }), status: 422 },
  { title: "what no policy is about", method: "POST", path: MAPS, body: map("a", {}), status: 201 },
  {
    title: "a policy whose param is not there",
    method: "POST",
    path: CRATES,
    body: crate("judged", { color: "blue" }, { judged: "yes" }),
    status: 422,
  },
  { title: "create the param", method: "POST", path: CRATES, body: crate("param", { color: "blue" }), status: 201 },
  {
    title: "what a policy with a param allows",
    method: "POST",
    path: CRATES,
    body: crate("judged", { color: "blue" }, { judged: "yes" }),
    status: 201,
  },
  {
    title: "what a policy with a param refuses",
    method: "PATCH",
    path: `${CRATES}/judged`,
    headers: type("merge-patch+json"),
    body: JSON.stringify({ spec: { color: "red" } }),
    status: 422,
  },
  {
    title: "what a policy changes",
    method: "POST",
    path: SECRETS,
    body: JSON.stringify({ metadata: { name: "a" }, stringData: { large: LARGE } }),
    status: 201,
  },
  {
    title: "what a webhook changes",
    method: "POST",
    path: LEASES,
    body: JSON.stringify({ metadata: { name: "a", annotations: { large: LARGE } } }),
    status: 201,
  },
  {
    title: "what a webhook refuses",
    method: "POST",
    path: CRATES,
    body: crate("denied", {}, { denied: "yes" }),
    status: 400,
  },
];

const about = (subject: string, steps: readonly Step[]): Step[] =>
  steps.map((step) => ({ ...step, title: `${subject}: ${step.title}` }));

/** Large requests that involve kinds, policies and webhooks created after the start of the server. */
export const laterSteps: readonly Step[] = [
  ...about("a defined kind", defined),
  ...about("a kind without a definition", open),
  ...about("admission", admission),
];
