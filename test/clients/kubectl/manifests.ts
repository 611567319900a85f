import type { JsonObject } from "../../../src/base/api/object.ts";

const IMAGE = "example.com/main:1";

/** What may be different about a manifest. */
interface Differences {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly namespace?: string;
  readonly image?: string;
  readonly spec?: JsonObject;
}

const metadata = (name: string, { labels, annotations, namespace }: Differences) => ({
  name,
  ...(namespace && { namespace }),
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});

/** A pod of one container, `main`. */
export function pod(name: string, differences: Differences = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata(name, differences),
    spec: { containers: [{ name: "main", image: differences.image ?? IMAGE }], ...differences.spec },
  };
}

/** A Deployment, ReplicaSet or the like, whose pods have the label `app` with its name. */
export function workload(
  kind: "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet",
  name: string,
  differences: Differences = {},
): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: metadata(name, differences),
    spec: {
      ...(kind === "DaemonSet" ? {} : { replicas: 3 }),
      ...(kind === "StatefulSet" && { serviceName: name }),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [{ name: "main", image: differences.image ?? IMAGE, ports: [{ containerPort: 80 }] }],
        },
      },
      ...differences.spec,
    },
  };
}

/** A ReplicationController, whose pods have the label `app` with its name. */
export function controller(name: string, replicas = 3): JsonObject {
  return {
    apiVersion: "v1",
    kind: "ReplicationController",
    metadata: { name, labels: { app: name } },
    spec: {
      replicas,
      selector: { app: name },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: IMAGE, ports: [{ containerPort: 80 }] }] },
      },
    },
  };
}

/** A Service with one port. */
export function service(name: string, differences: Differences = {}): JsonObject {
  const spec = { selector: { app: name }, ports: [{ port: 6379, targetPort: 6379 }], ...differences.spec };
  return { apiVersion: "v1", kind: "Service", metadata: metadata(name, differences), spec };
}

/** A ConfigMap. */
export function configMap(name: string, data: Record<string, string>, differences: Differences = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: metadata(name, differences), data };
}

/** A node that nothing runs on. */
export function node(name: string, labels: Record<string, string> = {}): JsonObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

/** A definition of a kind in one version that keeps every field, unless it has a schema. */
export function definition(
  group: string,
  [kind, plural]: readonly [kind: string, plural: string],
  differences: {
    schema?: JsonObject;
    scope?: "Cluster" | "Namespaced";
    shortNames?: string[];
    version?: JsonObject;
  } = {},
): JsonObject {
  const openAPIV3Schema = differences.schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: differences.scope ?? "Namespaced",
      names: {
        kind,
        plural,
        singular: kind.toLowerCase(),
        ...(differences.shortNames && { shortNames: differences.shortNames }),
      },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...differences.version }],
    },
  };
}
