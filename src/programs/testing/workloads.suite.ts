import type { KubeObject } from "../../base/api/object.ts";
import type { ControlPlane } from "./control-plane.ts";

const PODS = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const NAMESPACE = "shop";

type Manifest = Omit<KubeObject, "metadata"> & { readonly metadata: KubeObject["metadata"] };

function manifest(apiVersion: string, kind: string, name: string, content: object = {}, metadata: object = {}) {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE, ...metadata }, ...content } as Manifest;
}

/** A selector and a template of Pods with the label app=NAME. */
function podsOf(name: string, image = "app:1", more: object = {}) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }], ...more } };
  return { selector: { matchLabels: labels }, template };
}

/** The template of a Pod that ends. */
const batchPod = { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "task:1" }] } } };

const deployment = (name: string, image: string, more: object = {}) =>
  manifest("apps/v1", "Deployment", name, { spec: { replicas: 3, ...podsOf(name, image), ...more } });

const statefulSet = (image: string, replicas: number) => {
  const requests = { storage: "1Gi" };
  const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests } } };
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete", whenScaled: "Delete" };
  const more = { replicas, volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy };
  return manifest("apps/v1", "StatefulSet", "db", { spec: { serviceName: "db", ...podsOf("db", image), ...more } });
};

const daemonSet = (image: string) =>
  manifest("apps/v1", "DaemonSet", "agent", {
    spec: {
      ...podsOf("agent", image, { tolerations: [{ operator: "Exists" }] }),
      updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    },
  });

const cronJob = (name: string, schedule: string, more: object = {}) =>
  manifest("batch/v1", "CronJob", name, { spec: { schedule, jobTemplate: { spec: batchPod }, ...more } });

const clusterScoped = { namespace: undefined };

const FIRST: readonly Manifest[] = [
  manifest("v1", "Namespace", NAMESPACE, {}, clusterScoped),
  manifest("v1", "Namespace", "old", {}, clusterScoped),
  ...["node-a", "node-b"].map((name) => manifest("v1", "Node", name, {}, clusterScoped)),
  manifest("v1", "ResourceQuota", "quota", { spec: { hard: { pods: "200", "count/jobs.batch": "500" } } }),
  manifest("v1", "ConfigMap", "left", {}, { namespace: "old" }),
  manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "part", { rules: [] }, aggregated("labels")),
  manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "whole", aggregated("rule"), clusterScoped),
  manifest("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "named", policy(), clusterScoped),
];

function aggregated(part: "labels" | "rule"): object {
  const labels = { "example.com/part": "yes" };
  if (part === "labels") return { ...clusterScoped, labels };
  return { rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] } };
}

function policy(): object {
  const resourceRules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] },
  ];
  return { spec: { matchConstraints: { resourceRules }, validations: [{ expression: "object.spec.replicas > 0" }] } };
}

const WORKLOADS: readonly Manifest[] = [
  deployment("web", "web:1"),
  deployment("single", "single:1", { strategy: { type: "Recreate" }, replicas: 1 }),
  manifest("v1", "Pod", "orphan", { spec: podsOf("set").template.spec }, { labels: { app: "set" } }),
  manifest("apps/v1", "ReplicaSet", "set", { spec: { replicas: 2, ...podsOf("set") } }),
  manifest("v1", "ReplicationController", "rc", {
    spec: { ...podsOf("rc"), replicas: 2, selector: { app: "rc" } },
  }),
  statefulSet("db:1", 3),
  daemonSet("agent:1"),
  manifest("batch/v1", "Job", "once", { spec: { ...batchPod, ttlSecondsAfterFinished: 60 } }),
  manifest("batch/v1", "Job", "indexed", {
    spec: { ...batchPod, completionMode: "Indexed", completions: 5, parallelism: 2 },
  }),
  manifest("batch/v1", "Job", "broken", { spec: { ...batchPod, backoffLimit: 1 } }),
  cronJob("often", "*/10 * * * *"),
  cronJob("replaced", "*/20 * * * *", { concurrencyPolicy: "Replace" }),
  cronJob("hourly", "@hourly", { timeZone: "Asia/Kathmandu", successfulJobsHistoryLimit: 0 }),
];

const UPDATES: readonly Manifest[] = [
  deployment("web", "web:2", { replicas: 5 }),
  deployment("single", "single:2", { strategy: { type: "Recreate" }, replicas: 1 }),
  manifest("apps/v1", "ReplicaSet", "set", { spec: { replicas: 1, ...podsOf("set") } }),
  statefulSet("db:2", 2),
  daemonSet("agent:2"),
];

/** Runs Pods as a kubelet reports them: those of Jobs end, all others become ready. */
function runPods(plane: ControlPlane) {
  return plane.reconcile(PODS, async ({ metadata, spec, status }, { client }) => {
    const { phase } = status as { phase?: string };
    if (phase !== "Pending" || metadata.deletionTimestamp !== undefined) return;
    const isBatch = (spec as { restartPolicy?: string }).restartPolicy === "Never";
    const isBroken = metadata.name.startsWith("broken");
    const lastTransitionTime = plane.clock.now().toISOString().replace(/\.\d+/, "");
    const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
    await client(PODS).status.patch(metadata.name, isBatch ? { phase: isBroken ? "Failed" : "Succeeded" } : ready);
  });
}

/**
 * Uses every workload controller: creates workloads, updates, scales and deletes them, and lets some hours pass. The clock
 * of the control plane must be stopped.
 */
export async function runWorkloads(plane: ControlPlane): Promise<void> {
  const apps = `/apis/apps/v1/namespaces/${NAMESPACE}`;
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const response = await plane.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  };
  const pass = (minutes: number) => plane.clock.advance({ minutes });

  await plane.apply([...FIRST]);
  await pass(1);
  await plane.apply([...WORKLOADS]);
  await pass(1);
  const running = runPods(plane);
  await pass(30);
  // The ReplicaSet releases this Pod.
  await send("PATCH", `${core}/pods/orphan`, { metadata: { labels: { app: "released" } } });
  await plane.apply([...UPDATES]);
  await pass(30);
  await send("DELETE", `/api/v1/nodes/node-b`);
  await send("DELETE", `${apps}/deployments/single`, { propagationPolicy: "Foreground" });
  await send("DELETE", `${apps}/daemonsets/agent`, { propagationPolicy: "Orphan" });
  await send("DELETE", `${apps}/statefulsets/db`);
  await send("DELETE", "/api/v1/namespaces/old");
  await pass(90);
  await running.close();
}
