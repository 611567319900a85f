import { createHash, type Hash } from "node:crypto";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

/** How much happens. */
export interface DaySize {
  readonly nodes: number;
  readonly hours: number;
  readonly seed: number;
  /** Default: 40. */
  readonly leaseSeconds?: number;
}

/** What a day leaves behind, for comparison. */
export interface DayResult {
  /** All objects, as the server sends them, one per line. */
  readonly objects: readonly string[];
  /** For each watched path: a hash of all bytes that the watch has sent, and their number. */
  readonly watched: ReadonlyMap<string, { readonly hash: string; readonly bytes: number }>;
  /** The last resourceVersion. */
  readonly revision: number;
}

const NAMESPACE = "shop";

function manifest(apiVersion: string, kind: string, name: string, content: object) {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, ...content };
}

const container = (image: string, cpu = "100m") => ({
  name: "main",
  image,
  resources: { requests: { cpu, memory: "64Mi" } },
});

function podsOf(name: string, image: string, more: object = {}) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container(image)], ...more } };
  return { selector: { matchLabels: labels }, template };
}

const deployment = (name: string, image: string, replicas: number) =>
  manifest("apps/v1", "Deployment", name, { spec: { replicas, ...podsOf(name, image) } });

const cronJob = (name: string, schedule: string, image: string) => {
  const template = { spec: { restartPolicy: "Never", containers: [container(image)] } };
  const jobTemplate = { spec: { backoffLimit: 2, template } };
  return manifest("batch/v1", "CronJob", name, { spec: { schedule, jobTemplate } });
};

function objectsAtFirst(nodes: number) {
  const spread = { topologyKey: "kubernetes.io/hostname", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" };
  const spec = { topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: { app: "web" } } }] };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    manifest("apps/v1", "Deployment", "web", { spec: { replicas: 2 * nodes, ...podsOf("web", "web:1", spec) } }),
    deployment("crashing", "crashing:1", 2),
    manifest("apps/v1", "StatefulSet", "db", { spec: { replicas: 3, serviceName: "db", ...podsOf("db", "db:1") } }),
    manifest("apps/v1", "DaemonSet", "agent", { spec: podsOf("agent", "agent:1") }),
    manifest("v1", "Service", "web", { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
    manifest("policy/v1", "PodDisruptionBudget", "web", {
      spec: { maxUnavailable: "25%", selector: { matchLabels: { app: "web" } } },
    }),
    manifest("autoscaling/v2", "HorizontalPodAutoscaler", "busy", {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "busy" },
        ...{ minReplicas: 2, maxReplicas: 10 },
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
        ],
      },
    }),
    deployment("busy", "busy:1", 2),
    cronJob("report", "*/10 * * * *", "report:1"),
    cronJob("flaky", "*/15 * * * *", "flaky:1"),
    cronJob("nightly", "30 3 * * *", "report:1"),
  ];
}

/** Containers that end, fail and become slow, each in its own way. */
function defineImages({ cluster, clock }: ControlPlane): void {
  cluster.image("crashing:*", async ({ sleep, restartCount }) => {
    await sleep(60_000 * (restartCount + 1));
    return restartCount % 2 === 0 ? 1 : { code: 137, reason: "OOMKilled" };
  });
  cluster.image("flaky:*", async ({ sleep, pod, log }) => {
    await sleep("20s");
    // The last letter of a name is random, and follows the seed.
    const isGood = (pod.metadata.name ?? "").charCodeAt((pod.metadata.name ?? "").length - 1) % 2 === 0;
    log(isGood ? "good" : "bad");
    return isGood ? 0 : 1;
  });
  cluster.image("report:*", async ({ sleep }) => {
    await sleep("90s");
    return 0;
  });
  // Two hours of much work, then two of little.
  cluster.image("busy:*", { usage: () => ({ cpu: clock.now().getUTCHours() % 4 < 2 ? "90m" : "5m", memory: "32Mi" }) });
  cluster.image("web:*", { ready: ({ since }) => since > 3_000 });
}

/** Watches a path from now on and hashes what the server sends. */
function watch(plane: ControlPlane, path: string, signal: AbortSignal): { hash: Hash; bytes: number } {
  const seen = { hash: createHash("sha256"), bytes: 0 };
  const read = async () => {
    const response = await plane.fetch(`${path}?watch=true&allowWatchBookmarks=true`, { signal });
    for await (const chunk of response.body ?? []) {
      seen.hash.update(chunk);
      seen.bytes += chunk.length;
    }
  };
  void read().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return seen;
}

async function readJson<T>(plane: ControlPlane, path: string): Promise<T> {
  return (await (await plane.fetch(path)).json()) as T;
}

/** The paths of all kinds that can be listed, in their preferred versions. */
export async function listPaths(plane: ControlPlane): Promise<string[]> {
  type Groups = { readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[] };
  type Resources = { readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[] };
  const { groups } = await readJson<Groups>(plane, "/apis");
  const roots = ["/api/v1", ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const lists = roots.map(async (root) => {
    const { resources } = await readJson<Resources>(plane, root);
    return resources.filter(({ verbs }) => verbs.includes("list")).map(({ name }) => `${root}/${name}`);
  });
  return (await Promise.all(lists)).flat();
}

/** All objects of a control plane, as the server sends them, each with the path of its list. */
export async function allObjects(plane: ControlPlane): Promise<string[]> {
  type Listed = { readonly metadata: { readonly namespace?: string; readonly name: string } };
  const objects: string[] = [];
  for (const path of await listPaths(plane)) {
    const { items } = await readJson<{ readonly items: readonly Listed[] }>(plane, path);
    for (const item of items) {
      const { namespace = "", name } = item.metadata;
      // The CA is a secret of the process and does not depend on the seed.
      const text = JSON.stringify(item).replaceAll(JSON.stringify(plane.ca).slice(1, -1), "CA");
      objects.push(`${path} ${namespace}/${name} ${text}`);
    }
  }
  return objects;
}

/** What happens in each hour: scaling, evictions, and nodes that are cut off, removed and added. Every four hours a rollout. */
async function disturb(plane: ControlPlane, hour: number, nodes: number): Promise<void> {
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const nodeOf = (number: number) => `node-${1 + (number % nodes)}`;
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const response = await plane.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok && response.status !== 429) throw new Error(`${method} ${path}: ${await response.text()}`);
  };
  const pass = (minutes: number) => plane.clock.advance({ minutes });

  const spec = {
    replicas: 2 * nodes - (hour % 3),
    template: { spec: { containers: [container(`web:${2 + (hour >> 2)}`)] } },
  };
  await send("PATCH", `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/web`, { spec });
  await pass(10);
  plane.cluster.disconnect(nodeOf(hour));
  await pass(15);
  plane.cluster.reconnect(nodeOf(hour));
  type Pods = { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
  const { items } = await readJson<Pods>(plane, `${core}/pods?labelSelector=app%3Dweb&limit=3`);
  for (const { metadata } of items) {
    const { name } = metadata;
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: NAMESPACE } };
    await send("POST", `${core}/pods/${name}/eviction`, eviction);
  }
  await pass(15);
  const removed = nodeOf(hour + 2);
  await send("DELETE", `/api/v1/nodes/${removed}`);
  await pass(10);
  const annotations = { "simulated.binnacle.dev/node": "true" };
  await send("POST", "/api/v1/nodes", { metadata: { name: removed, annotations } });
  await pass(10);
}

/** Runs a cluster for some hours of its clock and returns all that clients can see. */
export async function simulateDay({ nodes, hours, seed, leaseSeconds = 40 }: DaySize): Promise<DayResult> {
  const clock = { at: "2026-01-01T00:00:30Z" };
  const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
  await using plane = await startControlPlane({ cluster: { nodes, capacity, leaseSeconds }, seed, clock });
  const ending = new AbortController();
  const paths = await listPaths(plane);
  const watches = new Map(paths.map((path) => [path, watch(plane, path, ending.signal)]));
  defineImages(plane);
  await plane.apply(objectsAtFirst(nodes) as never);
  for (let hour = 0; hour < hours; hour += 1) await disturb(plane, hour, nodes);
  await plane.settled();
  const objects = await allObjects(plane);
  const { metadata } = await readJson<{ metadata: { resourceVersion: string } }>(plane, "/api/v1/pods?limit=1");
  ending.abort();
  const watched = new Map(
    [...watches].map(([path, { hash, bytes }]) => [path, { hash: hash.digest("hex"), bytes }] as const),
  );
  return { objects, watched, revision: Number(metadata.resourceVersion) };
}
