import type { JsonObject } from "../../src/base/api/object.ts";
import { CONTENT_TYPES } from "./operations.ts";
import type { Request } from "./webhook-cases.ts";

/** The namespace of all objects; its label is what selectors ask for. */
export const NAMESPACE = "hooked";
const core = `/api/v1/namespaces/${NAMESPACE}`;
const apps = `/apis/apps/v1/namespaces/${NAMESPACE}`;
const hpas = (version: string) => `/apis/autoscaling/${version}/namespaces/${NAMESPACE}/horizontalpodautoscalers`;
const widgets = (version: string) => `/apis/example.com/${version}/namespaces/${NAMESPACE}/widgets`;
const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/** A custom kind with two versions, status and scale. */
export const WIDGETS: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { replicas: { type: "integer" }, size: { type: "string", default: "small" } },
            },
            status: { type: "object", properties: { replicas: { type: "integer" } } },
          },
        },
      },
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
      },
    })),
  },
};

const RULES = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
const template = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "registry/image" }] },
};
const deploymentSpec = { replicas: 2, selector: { matchLabels: { app: "x" } }, template };
const podSpec = { containers: [{ name: "c", image: "image", resources: { requests: { cpu: "100m" } } }] };
const target = { scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, maxReplicas: 3 };

const meta = (name: string, more: JsonObject = {}) => ({ name, labels: { team: "a", case: "x" }, ...more });

/** Objects that are there before the webhooks are. */
export function baseObjects(n: number): Request[] {
  const old = `old-${n}`;
  const labels = { case: `n${n}` };
  return [
    ["configmaps", `${core}/configmaps`, { metadata: meta(old), data: { a: "1" } }],
    ["configmaps to go", `${core}/configmaps`, { metadata: { name: `go-a-${n}`, labels } }],
    ["configmaps to go", `${core}/configmaps`, { metadata: { name: `go-b-${n}`, labels } }],
    ["pod", `${core}/pods`, { metadata: { name: old, labels: { team: "b" } }, spec: podSpec }],
    ["pod to evict", `${core}/pods`, { metadata: { name: `evict-${n}` }, spec: podSpec }],
    ["pod to bind", `${core}/pods`, { metadata: { name: `bind-${n}` }, spec: podSpec }],
    ["deployment", `${apps}/deployments`, { metadata: meta(old), spec: deploymentSpec }],
    ["hpa", hpas("v2"), { metadata: meta(old), spec: target }],
    [
      "widget",
      widgets("v1"),
      { apiVersion: "example.com/v1", kind: "Widget", metadata: meta(old), spec: { replicas: 1 } },
    ],
    ["clusterrole", roles, { metadata: meta(old), rules: RULES }],
    ["namespace", "/api/v1/namespaces", { metadata: { name: `ns-${n}`, labels: { team: "a" } } }],
  ].map(([title, path, body]) => ({ title: String(title), method: "POST", path: String(path), body }));
}

const post = (title: string, path: string, body: unknown): Request => ({ title, method: "POST", path, body });
const patch = (title: string, path: string, body: unknown, type: keyof typeof CONTENT_TYPES = "merge"): Request => ({
  ...{ title, method: "PATCH", path, body },
  type: CONTENT_TYPES[type],
});

/** The same requests on every route that admission sees, in an order in which most of them succeed. */
export function routes(n: number): Request[] {
  const [x, old] = [`x-${n}`, `old-${n}`];
  const widget = (version: string, name: string) => ({
    ...{ apiVersion: `example.com/${version}`, kind: "Widget", metadata: { name, labels: { team: "b" } } },
    spec: { replicas: 2 },
  });
  const event = { involvedObject: { namespace: NAMESPACE, kind: "Pod", name: "p" }, reason: "R", message: "m" };
  return [
    post("create", `${core}/configmaps?fieldManager=fuzz`, { metadata: meta(x), data: { a: "b" } }),
    post("create with a generated name", `${core}/secrets`, { metadata: { generateName: `${x}-`, name: `${x}-s` } }),
    post("create a pod", `${core}/pods?fieldValidation=Strict`, { metadata: { name: x, labels: {} }, spec: podSpec }),
    post("dry run of create", `${core}/pods?dryRun=All`, { metadata: { name: `${x}-dry` }, spec: podSpec }),
    post("create a deployment", `${apps}/deployments`, { metadata: meta(x), spec: deploymentSpec }),
    post("create in v1 of two versions", hpas("v1"), { metadata: meta(x), spec: target }),
    post("create in v2 of two versions", hpas("v2"), { metadata: meta(`${x}-2`), spec: target }),
    post("create a custom object", widgets("v1"), widget("v1", x)),
    post("create a custom object in v2", widgets("v2"), widget("v2", `${x}-2`)),
    post("create a cluster-scoped object", roles, { metadata: meta(x), rules: RULES }),
    post("create a namespace", "/api/v1/namespaces", { metadata: meta(`ns-x-${n}`) }),
    post("create an event", `${core}/events`, { metadata: { name: x, namespace: NAMESPACE }, ...event }),
    post("create a review", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    }),
    {
      title: "create by update",
      method: "PUT",
      path: `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${x}`,
      body: { metadata: { name: x }, spec: { holderIdentity: "h" } },
    },
    {
      title: "update",
      method: "PUT",
      path: `${core}/configmaps/${old}?fieldManager=fuzz`,
      body: { metadata: { name: old, labels: { team: "b" } }, data: { a: "2" } },
    },
    patch("merge patch", `${core}/configmaps/${old}`, { data: { b: "3" } }),
    patch("JSON patch", `${core}/configmaps/${old}`, [{ op: "add", path: "/data/c", value: "4" }], "json"),
    patch("strategic merge patch", `${apps}/deployments/${old}`, { spec: { minReadySeconds: 3 } }, "strategic"),
    patch("patch in another version", `${hpas("v1")}/${old}`, { spec: { maxReplicas: 7 } }),
    patch(
      "apply that creates",
      `${core}/configmaps/${x}-applied?fieldManager=fuzz`,
      {
        ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${x}-applied` }, data: { d: "5" } },
      },
      "apply",
    ),
    patch(
      "apply",
      `${core}/configmaps/${old}?fieldManager=fuzz&force=true`,
      {
        ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: old }, data: { d: "6" } },
      },
      "apply",
    ),
    patch(
      "apply of a custom object",
      `${widgets("v2")}/${old}?fieldManager=fuzz&force=true`,
      {
        ...{ apiVersion: "example.com/v2", kind: "Widget", metadata: { name: old }, spec: { replicas: 4 } },
      },
      "apply",
    ),
    patch("status", `${core}/pods/${old}/status`, { status: { phase: "Running" } }),
    patch("status of a custom object", `${widgets("v2")}/${old}/status`, { status: { replicas: 9 } }),
    patch("scale", `${apps}/deployments/${old}/scale`, { spec: { replicas: 4 } }),
    {
      title: "update of scale",
      method: "PUT",
      path: `${apps}/deployments/${old}/scale`,
      body: { metadata: { name: old }, spec: { replicas: 5 } },
    },
    patch("scale of a custom object", `${widgets("v1")}/${old}/scale`, { spec: { replicas: 6 } }),
    patch(
      "ephemeral containers",
      `${core}/pods/${old}/ephemeralcontainers`,
      {
        spec: { ephemeralContainers: [{ name: "e", image: "i" }] },
      },
      "strategic",
    ),
    patch(
      "resize",
      `${core}/pods/${old}/resize`,
      {
        spec: { containers: [{ name: "c", resources: { requests: { cpu: "200m" } } }] },
      },
      "strategic",
    ),
    post("binding", `${core}/pods/bind-${n}/binding`, {
      metadata: { name: `bind-${n}` },
      target: { kind: "Node", name: "n" },
    }),
    post("eviction", `${core}/pods/evict-${n}/eviction`, { metadata: { name: `evict-${n}` } }),
    post("exec", `${core}/pods/${old}/exec?command=ls&stdout=true`, undefined),
    post("attach", `${core}/pods/${old}/attach?stdout=true&tty=true`, undefined),
    { title: "proxy", method: "GET", path: `${core}/pods/${old}/proxy/index.html?a=b` },
    patch("patch of a cluster-scoped object", `${roles}/${old}`, { metadata: { labels: { team: "b" } } }),
    patch("patch of a namespace", `/api/v1/namespaces/ns-${n}`, { metadata: { labels: { team: "b" } } }),
    { title: "dry run of delete", method: "DELETE", path: `${core}/configmaps/${old}?dryRun=All` },
    { title: "delete", method: "DELETE", path: `${core}/configmaps/${old}` },
    {
      title: "delete with options",
      method: "DELETE",
      path: `${apps}/deployments/${old}`,
      body: { propagationPolicy: "Background", gracePeriodSeconds: 5 },
    },
    { title: "delete a custom object", method: "DELETE", path: `${widgets("v2")}/${old}?propagationPolicy=Background` },
    { title: "delete a collection", method: "DELETE", path: `${core}/configmaps?labelSelector=case%3Dn${n}` },
    { title: "delete a cluster-scoped object", method: "DELETE", path: `${roles}/${old}` },
  ];
}
