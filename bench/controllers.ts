import { setImmediate as nextTurn } from "node:timers/promises";
import { RUNNABLE_CONTROLLERS } from "../src/cluster/controllers/manager/all.ts";
import { TestCluster } from "../src/cluster/controllers/shared/controllers.suite.ts";
import { ownedKey } from "../src/cluster/controllers/shared/informers.ts";
import { type ControlPlane, startControlPlane } from "../src/testing.ts";

/**
 * How the costs of controllers grow. Processor time per Pod of one ReplicaSet and of 50 Deployments at three sizes each, until all
 * Pods are ready; per Service and per Node at three sizes each, and of one change beside that many; then 5,000 Pods: heap per Pod
 * for all controllers, and processor time while nothing happens. Arguments: names of parts (growth, services, nodes, heap, idle).
 */
const PODS = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const REPLICA_SETS = { apiVersion: "apps/v1", kind: "ReplicaSet", plural: "replicasets" };
const DEPLOYMENTS = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" };
const SERVICES = { apiVersion: "v1", kind: "Service", plural: "services" };
const NODES = { apiVersion: "v1", kind: "Node", plural: "nodes", scope: "Cluster" as const };
const CONDITION = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };

const SIZES = [100, 250, 500];
const SERVICE_SIZES = [1250, 2500, 5000];
const NODE_SIZES = [250, 500, 1000];
const CHANGES = 20;
const DEPLOYMENT_COUNT = 50;
const MANY = 5000;
const print = (text: string) => void process.stdout.write(`${text}\n`);

function workload(name: string, replicas: number) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "app:1" }] } };
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

const start = () => startControlPlane({ controllers: "*", seed: 1, clock: { at: "2026-01-01T00:00:00Z" } });

function makeReady(plane: ControlPlane) {
  return plane.reconcile(PODS, async ({ metadata, status }, { client }) => {
    if ((status as { phase?: string }).phase !== "Pending") return;
    await client(PODS).status.patch(metadata.name, { phase: "Running", conditions: [CONDITION] });
  });
}

/** Processor time in milliseconds of what `create` starts, until all Pods are ready. */
async function cost(pods: number, create: (plane: ControlPlane) => Promise<unknown>): Promise<number> {
  await using plane = await start();
  makeReady(plane);
  await plane.settled();
  const before = process.cpuUsage();
  await create(plane);
  await plane.settled({ withinMs: 600_000 });
  const { user, system } = process.cpuUsage(before);
  const { items } = await plane.client(PODS).list();
  const ready = items.filter(({ status }) => (status as { phase?: string }).phase === "Running");
  if (ready.length !== pods) throw new Error(`${ready.length} of ${pods} Pods are ready`);
  return (user + system) / 1000;
}

const oneSet = (pods: number) => cost(pods, (plane) => plane.client(REPLICA_SETS).create(workload("set", pods)));
const manyDeployments = (pods: number) =>
  cost(pods, async (plane) => {
    for (let index = 0; index < DEPLOYMENT_COUNT; index += 1) {
      await plane.client(DEPLOYMENTS).create(workload(`web-${index}`, pods / DEPLOYMENT_COUNT));
    }
  });

async function growth(what: string, measure: (pods: number) => Promise<number>): Promise<void> {
  const figures: string[] = [];
  for (const pods of SIZES) figures.push(`${pods} Pods ${((await measure(pods)) / pods).toFixed(2)} ms`);
  print(`${what.padEnd(34)} per Pod: ${figures.join(", ")}`);
}

async function cpuOf(plane: ControlPlane, act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  await plane.settled({ withinMs: 600_000 });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Creates objects, then measures changes beside them. */
async function growthOfMany(
  what: string,
  sizes: readonly number[],
  create: (plane: ControlPlane, index: number) => Promise<unknown>,
  change: (plane: ControlPlane, index: number) => Promise<unknown>,
): Promise<void> {
  const figures: string[] = [];
  for (const size of sizes) {
    await using plane = await start();
    await plane.settled();
    const all = await cpuOf(plane, async () => {
      for (let index = 0; index < size; index += 1) await create(plane, index);
    });
    const changes = await cpuOf(plane, async () => {
      for (let index = 0; index < CHANGES; index += 1) await change(plane, index);
    });
    figures.push(`${size}: ${(all / size).toFixed(2)} ms each, then ${(changes / CHANGES).toFixed(2)} ms per change`);
  }
  print(`${what.padEnd(34)} ${figures.join("; ")}`);
}

// More than the default range of cluster IPs has.
const headless = { clusterIP: "None", ports: [{ port: 80 }] };
const createService = (plane: ControlPlane, index: number) =>
  plane
    .client(SERVICES)
    .create({ metadata: { name: `web-${index}` }, spec: { selector: { app: `web-${index}` }, ...headless } });
/** A Pod that one of the Services selects. */
const createPod = (plane: ControlPlane, index: number) => {
  const spec = { nodeName: "somewhere", containers: [{ name: "main", image: "app:1" }] };
  return plane.client(PODS).create({ metadata: { name: `pod-${index}`, labels: { app: `web-${index}` } }, spec });
};

const capacity = { cpu: "32", memory: "256Gi", pods: "110" };
const createNode = (plane: ControlPlane, index: number) =>
  plane.client(NODES).create({
    metadata: { name: `node-${index}`, labels: { "kubernetes.io/hostname": `node-${index}` } },
    status: { capacity, allocatable: capacity, conditions: [CONDITION] },
  });

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
  return process.memoryUsage().heapUsed;
}

/** Heap that all controllers together need per Pod. */
async function heapPerPod(): Promise<void> {
  const cluster = new TestCluster();
  const [set] = [await cluster.create("replicasets", "set", { content: { spec: workload("set", MANY).spec } })];
  const { kind, apiVersion, metadata } = set;
  const owner = { kind, apiVersion, name: "set", uid: metadata.uid ?? "", controller: true };
  const labels = { app: "set" };
  for (let index = 0; index < MANY; index += 1) {
    const pod = { metadata: { name: `pod-${index}`, namespace: "default", labels, ownerReferences: [owner] } };
    await cluster.create("pods", `pod-${index}`, { content: pod });
  }
  const before = await heapUsed();
  cluster.start(...RUNNABLE_CONTROLLERS.map(({ make }) => make(cluster, { rootCa: "", signToken: () => "" })));
  const { byOwner } = cluster.informers.of("", "pods");
  while ([...byOwner.get(ownedKey(owner.uid))].length < MANY) await nextTurn();
  const bytes = (await heapUsed()) - before;
  print(`${"heap of all controllers".padEnd(34)} per Pod: ${(bytes / MANY).toFixed(0)} bytes of ${MANY} Pods`);
  await cluster.stop();
}

/** Processor time of an hour in which nothing happens. */
async function idleCost(): Promise<void> {
  await using plane = await start();
  makeReady(plane);
  for (let index = 0; index < DEPLOYMENT_COUNT; index += 1) {
    await plane.client(DEPLOYMENTS).create(workload(`web-${index}`, MANY / DEPLOYMENT_COUNT));
  }
  await plane.settled({ withinMs: 600_000 });
  await plane.clock.advance({ hours: 1 });
  const before = process.cpuUsage();
  await plane.clock.advance({ hours: 1 });
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / 3600;
  print(`${"idle".padEnd(34)} ${(100 * share).toFixed(3)} % of a core with ${MANY} Pods`);
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  async growth() {
    await oneSet(50);
    await growth("one ReplicaSet", oneSet);
    await growth(`${DEPLOYMENT_COUNT} Deployments`, manyDeployments);
  },
  services: () => growthOfMany("Services, then Pods", SERVICE_SIZES, createService, createPod),
  nodes: () =>
    growthOfMany("Nodes, then more", NODE_SIZES, createNode, (plane, index) => createNode(plane, index + MANY)),
  heap: heapPerPod,
  idle: idleCost,
};

const chosen = process.argv.slice(2);
for (const [name, run] of Object.entries(PARTS)) if (chosen.length === 0 || chosen.includes(name)) await run();
