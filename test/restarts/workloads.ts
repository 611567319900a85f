import { setTimeout as sleep } from "node:timers/promises";
import type { Api, Item } from "./api.ts";

/** Replicas of the Deployment, and by how many Pods a rollout may deviate. */
export const WEB = { replicas: 10, maxSurge: 3, maxUnavailable: 2 };
/** Replicas of the StatefulSet. A rollout replaces one Pod at a time. */
export const DB = { replicas: 3, maxUnavailable: 1 };
const COMPLETIONS = 6;

const CORE = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";

/** The path of all Pods. */
export const PODS = `${CORE}/pods`;
/** The lists that are compared at the end. */
export const LISTS: readonly string[] = [
  PODS,
  `${CORE}/persistentvolumeclaims`,
  ...["deployments", "replicasets", "statefulsets", "controllerrevisions"].map((plural) => `${APPS}/${plural}`),
  `${BATCH}/jobs`,
];

function workload(name: string, image: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }] } };
  return { selector: { matchLabels: labels }, template, revisionHistoryLimit: 2 };
}

/** Changes the images of a Deployment and a StatefulSet, and creates a Job. */
export async function startRound(api: Api, round: number): Promise<void> {
  const { maxSurge, maxUnavailable, replicas } = WEB;
  await api.apply(`${APPS}/deployments/web`, {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
    spec: { ...workload("web", `web:${round}`), replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } },
  });
  await api.apply(`${APPS}/statefulsets/db`, {
    ...{ apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "db" } },
    spec: { ...workload("db", `db:${round}`), replicas: DB.replicas, serviceName: "db" },
  });
  const pod = { restartPolicy: "Never", containers: [{ name: "main", image: "task:1" }] };
  await api.apply(`${BATCH}/jobs/job-${round}`, {
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: `job-${round}` } },
    spec: { completionMode: "Indexed", completions: COMPLETIONS, parallelism: 2, template: { spec: pod } },
  });
}

interface Counts {
  readonly metadata: { readonly generation: number };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Whether a Deployment or StatefulSet has replaced all Pods, and the old ones are gone. */
async function isRolledOut(api: Api, path: string, replicas: number): Promise<boolean> {
  const { metadata, status = {} } = await api.get<Counts>(path);
  const counts = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
  if ((status.terminatingReplicas ?? 0) !== 0) return false;
  return status.observedGeneration === metadata.generation && counts.every((name) => status[name] === replicas);
}

/** Whether all workloads of a round have reached their final state. */
export async function isRoundOver(api: Api, round: number): Promise<boolean> {
  if (!(await isRolledOut(api, `${APPS}/deployments/web`, WEB.replicas))) return false;
  if (!(await isRolledOut(api, `${APPS}/statefulsets/db`, DB.replicas))) return false;
  const { currentRevision, updateRevision } = (await api.get<Counts>(`${APPS}/statefulsets/db`)).status ?? {};
  if (currentRevision !== updateRevision) return false;
  const { conditions } = (await api.get<Item>(`${BATCH}/jobs/job-${round}`)).status ?? {};
  return conditions?.some(({ type, status }) => type === "Complete" && status === "True") ?? false;
}

/**
 * Acts for all kubelets until the signal aborts: Pods of Jobs succeed, all others become ready. Also deletes Pods that remain
 * when a server is killed between the two writes of a deletion. Compat: kube-apiserver has the same two writes, and
 * pod-garbage-collector-controller deletes such Pods.
 */
export async function runPods(api: Api, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { items } = await api.list(PODS);
      for (const { metadata, spec, status } of items) {
        if (metadata.deletionTimestamp !== undefined) await api.remove(`${PODS}/${metadata.name}`);
        if (status?.phase !== "Pending" || metadata.deletionTimestamp !== undefined) continue;
        const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, "");
        const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
        await api.patchStatus(
          `${PODS}/${metadata.name}`,
          spec.restartPolicy === "Never" ? { phase: "Succeeded" } : ready,
        );
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await sleep(20);
  }
}
