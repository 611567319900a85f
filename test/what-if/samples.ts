import type { JsonObject } from "../../src/base/api/object.ts";

/** An object that is in a cluster, or not yet, and what a manifest says about it. */
export interface Sample {
  /** What it is made as. Absent: only the manifest knows it. */
  readonly live?: JsonObject;
  /** Applied by kubectl, or created by another program, which owns its fields then. */
  readonly madeBy: "kubectl" | "helm";
  readonly manifest: JsonObject;
  /** What is tried, for messages. */
  readonly what: string;
}

/** Namespaces of the samples. The second has quotas, the third enforces the baseline of pod security. */
export const NAMESPACES: readonly string[] = ["shop-0", "shop-1", "shop-2", "shop-3"];

type Meta = { readonly name: string; readonly namespace?: string; readonly labels: JsonObject };

interface Template {
  readonly kind: string;
  readonly isCluster?: boolean;
  make(metadata: Meta): JsonObject;
  /** Changes what the kind is about. */
  change(object: JsonObject): JsonObject;
}

const podSpec = (image: string): JsonObject => ({
  automountServiceAccountToken: false,
  containers: [{ name: "main", image, ports: [{ containerPort: 80, name: "http" }], env: [{ name: "A", value: "1" }] }],
});
const template = (metadata: Meta, image = "web:1"): JsonObject => ({
  metadata: { labels: { app: metadata.name } },
  spec: podSpec(image),
});
const selector = ({ name }: Meta): JsonObject => ({ matchLabels: { app: name } });
const withSpec = (object: JsonObject, spec: JsonObject): JsonObject => ({
  ...object,
  spec: { ...(object.spec as JsonObject), ...spec },
});
const job = (metadata: Meta): JsonObject => ({
  suspend: true,
  template: { spec: { ...podSpec("job:1"), restartPolicy: "Never" }, metadata: { labels: { app: metadata.name } } },
});

const TEMPLATES: readonly Template[] = [
  {
    kind: "ConfigMap",
    make: (metadata) => ({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1", text: "one\ntwo\n" } }),
    change: (object) => ({ ...object, data: { a: "2", b: "- x: y" } }),
  },
  {
    kind: "Secret",
    make: (metadata) => ({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { a: "MQ==" } }),
    change: (object) => ({ ...object, data: { a: "Mg==" } }),
  },
  {
    kind: "Service",
    make: (metadata) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { clusterIP: "None", selector: { app: "x" }, ports: [{ name: "http", port: 80 }] },
    }),
    change: (object) => withSpec(object, { ports: [{ name: "http", port: 81, targetPort: "http" }] }),
  },
  {
    kind: "Deployment",
    make: (metadata) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 2, selector: selector(metadata), template: template(metadata) },
    }),
    change: (object) => withSpec(object, { replicas: 3, template: template(object.metadata as Meta, "web:2") }),
  },
  {
    kind: "StatefulSet",
    make: (metadata) => ({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata,
      spec: { serviceName: "x", selector: selector(metadata), template: template(metadata) },
    }),
    change: (object) => withSpec(object, { serviceName: "another" }),
  },
  {
    kind: "Job",
    make: (metadata) => ({ apiVersion: "batch/v1", kind: "Job", metadata, spec: job(metadata) }),
    change: (object) => withSpec(object, { backoffLimit: 2, completions: 3 }),
  },
  {
    kind: "CronJob",
    make: (metadata) => ({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata,
      spec: { schedule: "* * * * *", jobTemplate: { spec: job(metadata) } },
    }),
    change: (object) => withSpec(object, { schedule: "5 * * * *", concurrencyPolicy: "Forbid" }),
  },
  {
    kind: "Pod",
    make: (metadata) => ({ apiVersion: "v1", kind: "Pod", metadata, spec: podSpec("pod:1") }),
    change: (object) => withSpec(object, { hostNetwork: true, containers: [{ name: "main", image: "pod:2" }] }),
  },
  {
    kind: "Widget",
    make: (metadata) => ({
      apiVersion: "shop.example/v1",
      kind: "Widget",
      metadata,
      spec: { size: 2, parts: [{ name: "a", count: 1 }], any: { x: [1, "2", null] } },
    }),
    change: (object) => withSpec(object, { size: 9, parts: [{ name: "b" }] }),
  },
  {
    kind: "Region",
    isCluster: true,
    make: (metadata) => ({ apiVersion: "shop.example/v1beta1", kind: "Region", metadata, spec: { zones: ["a"] } }),
    change: (object) => withSpec(object, { zones: ["a", "b"], tier: "gold" }),
  },
  {
    kind: "Role",
    make: (metadata) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata,
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    }),
    change: (object) => ({ ...object, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }] }),
  },
  {
    kind: "ServiceAccount",
    make: (metadata) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata, imagePullSecrets: [{ name: "a" }] }),
    change: (object) => ({ ...object, automountServiceAccountToken: false }),
  },
  {
    kind: "HorizontalPodAutoscaler",
    make: (metadata) => ({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" } },
    }),
    change: (object) => withSpec(object, { maxReplicas: 0 }),
  },
  {
    kind: "NetworkPolicy",
    make: (metadata) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata,
      spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 80 }] }] },
    }),
    change: (object) => withSpec(object, { ingress: [{ ports: [{ port: 81, protocol: "UDP" }] }] }),
  },
  {
    kind: "PodDisruptionBudget",
    make: (metadata) => ({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { minAvailable: 1, selector: selector(metadata) },
    }),
    change: (object) => withSpec(object, { minAvailable: "50%", maxUnavailable: 1 }),
  },
  {
    kind: "Ingress",
    make: (metadata) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata,
      spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } },
    }),
    change: (object) => withSpec(object, { ingressClassName: "nginx", rules: [{ host: "a.example" }] }),
  },
  {
    kind: "PersistentVolumeClaim",
    make: (metadata) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }),
    change: (object) => withSpec(object, { accessModes: ["ReadWriteMany"] }),
  },
  {
    kind: "DaemonSet",
    make: (metadata) => ({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata,
      spec: { selector: selector(metadata), template: template(metadata) },
    }),
    change: (object) =>
      withSpec(object, { template: template(object.metadata as Meta, "agent:2"), minReadySeconds: 5 }),
  },
];

const withLabels = (object: JsonObject, labels: JsonObject): JsonObject => {
  const metadata = object.metadata as JsonObject;
  return { ...object, metadata: { ...metadata, labels: { ...(metadata.labels as JsonObject), ...labels } } };
};

type Variant = (template: Template, object: JsonObject) => Omit<Sample, "what">;

/** What is tried with every kind. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  same: (_, object) => ({ live: object, madeBy: "kubectl", manifest: object }),
  changed: ({ change }, object) => ({ live: object, madeBy: "kubectl", manifest: change(object) }),
  "owned by another": ({ change }, object) => ({ live: object, madeBy: "helm", manifest: change(object) }),
  "the same of another": (_, object) => ({
    live: object,
    madeBy: "helm",
    manifest: withLabels(object, { mine: "yes" }),
  }),
  new: (_, object) => ({ madeBy: "kubectl", manifest: object }),
  "without a label": (_, object) => ({
    live: withLabels(object, { old: "label" }),
    madeBy: "kubectl",
    manifest: object,
  }),
  "a wrong label": (_, object) => ({
    live: object,
    madeBy: "kubectl",
    manifest: withLabels(object, { wrong: "not a label!" }),
  }),
  "refused by the policy": (_, object) => ({
    live: object,
    madeBy: "kubectl",
    manifest: withLabels(object, { forbidden: "yes" }),
  }),
  "an unknown field": (_, object) => ({ live: object, madeBy: "kubectl", manifest: { ...object, colour: "red" } }),
};

/** So many samples, in which kinds and what is tried with them take turns. */
export function samples(count: number): Sample[] {
  const variants = Object.entries(VARIANTS);
  return Array.from({ length: count }, (_, index) => {
    const template = TEMPLATES[index % TEMPLATES.length] as Template;
    const round = Math.floor(index / TEMPLATES.length);
    const [what, make] = variants[(index + round) % variants.length] as (typeof variants)[number];
    const namespace = NAMESPACES[(index + Math.floor(round / variants.length)) % NAMESPACES.length] as string;
    const metadata = {
      name: `${template.kind.toLowerCase()}-${index}`,
      ...(!template.isCluster && { namespace }),
      labels: { app: "shop" },
    };
    return { what: `${template.kind} ${what}`, ...make(template, template.make(metadata)) };
  });
}
