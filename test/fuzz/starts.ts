import type { JsonObject } from "../../src/base/api/object.ts";

/** An object that patches are tried on, and where it is created. */
export interface Start {
  readonly path: string;
  readonly body: JsonObject;
}

const CORE = "/api/v1/namespaces/fuzz";
const podSpec = {
  automountServiceAccountToken: false,
  containers: [
    { name: "main", image: "i:1", ports: [{ containerPort: 80, name: "http" }], env: [{ name: "A", value: "1" }] },
    { name: "side", image: "i:2" },
  ],
  volumes: [{ name: "v", emptyDir: {} }],
};
const template = { metadata: { labels: { app: "a" } }, spec: podSpec };

/** One starting object for each kind, by the name of its patch shape. */
export const STARTS: Readonly<Record<string, Start>> = {
  configmap: {
    path: `${CORE}/configmaps`,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { labels: { app: "a" } }, data: { a: "1", b: "2" } },
  },
  secret: { path: `${CORE}/secrets`, body: { apiVersion: "v1", kind: "Secret", metadata: {}, stringData: { a: "1" } } },
  pod: {
    path: `${CORE}/pods`,
    body: { apiVersion: "v1", kind: "Pod", metadata: { labels: { app: "a" } }, spec: podSpec },
  },
  service: {
    path: `${CORE}/services`,
    body: {
      apiVersion: "v1",
      kind: "Service",
      metadata: {},
      spec: {
        clusterIP: "None",
        selector: { app: "a" },
        ports: [
          { name: "h", port: 80 },
          { name: "s", port: 443 },
        ],
      },
    },
  },
  deployment: {
    path: "/apis/apps/v1/namespaces/fuzz/deployments",
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {},
      spec: { selector: { matchLabels: { app: "a" } }, template },
    },
  },
  statefulset: {
    path: "/apis/apps/v1/namespaces/fuzz/statefulsets",
    body: {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: {},
      spec: { serviceName: "s", selector: { matchLabels: { app: "a" } }, template },
    },
  },
  role: {
    path: "/apis/rbac.authorization.k8s.io/v1/namespaces/fuzz/roles",
    body: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: {},
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
  },
  networkpolicy: {
    path: "/apis/networking.k8s.io/v1/namespaces/fuzz/networkpolicies",
    body: { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: {}, spec: { podSelector: {} } },
  },
  lease: {
    path: "/apis/coordination.k8s.io/v1/namespaces/fuzz/leases",
    body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: {}, spec: { holderIdentity: "a" } },
  },
};
