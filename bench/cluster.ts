import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { PROGRAMS, startPrograms } from "../test/cluster/programs.ts";
import { OWN_NODES, type ServerName, startClusterServer } from "../test/cluster/server.ts";
import type { StoreName } from "../test/support/binnacle.ts";
import { type Client, clientFor } from "../test/support/client.ts";
import { tokens } from "../test/support/oracle.ts";
import { eventually } from "../test/support/time.ts";
import { childPid, cpuMs, describeMachine, median, printTable, say } from "./support.ts";

const usage = `npm run bench cluster -- [OPTION...]

The real controller manager, scheduler and KWOK bring Deployments up on nodes that pretend, and away again: on Binnacle and on
kube-apiserver by turns, each with an etcd of its own.

   --nodes N          default 500
   --deployments N    default 10
   --pods N           of each Deployment, default 500
   --rounds N         default 1
   --store NAME       of Binnacle: etcd (default), sqlite or memory
   --ours             Binnacle only
   --own-controllers  Binnacle with its own controllers, by turns with Binnacle and kube-controller-manager
   --own-cluster      Binnacle alone, with its own controllers, scheduler and simulated nodes, on memory and on etcd, by turns with
                      kube-apiserver and all of the programs
   --own-only         the same without kube-apiserver
`;

interface Size {
  readonly nodes: number;
  readonly deployments: number;
  readonly pods: number;
}

/** What one server took. */
interface Measured {
  readonly nodesSeconds: number;
  readonly podsPerSecond: number;
  readonly goneSeconds: number;
  /** Processor time of the API server until all pods were ready, and until all were gone. */
  readonly cpuReadySeconds: number;
  readonly cpuSeconds: number;
  /** That of all processes. */
  readonly allCpuReadySeconds: number;
  readonly allCpuSeconds: number;
  readonly etcdCpuSeconds: number;
  /** Processor time of the programs around it, all the while. */
  readonly programsCpuSeconds: number;
  /** That of the controller manager. */
  readonly managerCpuSeconds: number;
  readonly peakMegabytes: number;
}

const DEPLOYMENTS = "/apis/apps/v1/namespaces/load/deployments";
const PODS = "/api/v1/namespaces/load/pods";
const PATIENCE = { withinMs: 900_000, everyMs: 500 };
// As the first line of cli.ts has it.
const NODE_FLAGS = ["--max-semi-space-size=8"];

// By themselves they ask for no more than 20 and 50 a second, whatever the server; and one that waited too long would end.
const PROGRAM_FLAGS = ["--kube-api-qps=1000", "--kube-api-burst=1000", "--leader-elect=false"];

const seconds = (began: number) => (performance.now() - began) / 1000;

async function create(client: Client, at: string, body: unknown): Promise<void> {
  const { status, body: answer } = await client.call("POST", at, body);
  if (status !== 201) throw new Error(`${at}: ${JSON.stringify(answer)}`);
}

async function createNodes(client: Client, count: number): Promise<void> {
  const capacity = { cpu: "32", memory: "256Gi", pods: "110" };
  for (let i = 0; i < count; i++) {
    const name = `kwok-node-${i}`;
    const labels = { "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" };
    const metadata = { name, labels, annotations: { "kwok.x-k8s.io/node": "fake" } };
    await create(client, "/api/v1/nodes", { metadata, status: { allocatable: capacity, capacity } });
  }
  const isReady = async () => {
    const { body } = await client.call("GET", "/api/v1/nodes?resourceVersion=0");
    const conditions = body.items.map((node: { status: { conditions?: { type: string; status: string }[] } }) =>
      node.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
    );
    return conditions.length === count && conditions.every(Boolean);
  };
  await eventually(isReady, { ...PATIENCE, what: "every node is ready" });
}

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const requests = { cpu: "100m", memory: "64Mi" };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: "main", image: "main", resources: { requests } }] },
  };
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

async function readyPods(client: Client): Promise<number> {
  const { body } = await client.call("GET", `${DEPLOYMENTS}?resourceVersion=0`);
  const ready = body.items.map((item: { status: { readyReplicas?: number } }) => item.status.readyReplicas ?? 0);
  return ready.reduce((sum: number, one: number) => sum + one, 0);
}

async function peakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function sumCpu(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map((pid) => (pid === 0 ? 0 : cpuMs(pid))));
  return each.reduce((sum, one) => sum + one, 0) / 1000;
}

type Part = "server" | "etcd" | "programs" | "manager";

async function cpuOf(pids: Readonly<Record<Part, readonly number[]>>): Promise<Record<Part, number>> {
  const each = Object.entries(pids).map(async ([part, those]) => [part, await sumCpu(those)] as const);
  return Object.fromEntries(await Promise.all(each)) as Record<Part, number>;
}

/** The manager is one of the programs. */
const total = ({ server, etcd, programs }: Readonly<Record<Part, number>>) => server + etcd + programs;

async function load(client: Client, server: number, size: Size, { own, store }: Variant): Promise<Measured> {
  const manager = own === undefined ? [await childPid("kube-controller-manager")] : [];
  const others = PROGRAMS.filter((name) => own !== "cluster" && name !== "kube-controller-manager").map(childPid);
  const programs = [...manager, ...(await Promise.all(others))];
  const etcd = store === "etcd" ? [await childPid("etcd")] : [];
  const parts = { server: [server], etcd, programs, manager };
  const started = own === "cluster" ? OWN_NODES : 0;
  for (let i = 1; i <= started; i++) await client.call("DELETE", `/api/v1/nodes/node-${i}`);
  const nodesBegan = performance.now();
  await createNodes(client, size.nodes);
  const nodesSeconds = seconds(nodesBegan);
  await create(client, "/api/v1/namespaces", { metadata: { name: "load" } });
  const account = async () =>
    (await client.call("GET", "/api/v1/namespaces/load/serviceaccounts/default")).status === 200;
  await eventually(account, { ...PATIENCE, what: "the namespace has its service account" });
  const before = await cpuOf(parts);
  const began = performance.now();
  for (let i = 0; i < size.deployments; i++) await create(client, DEPLOYMENTS, deployment(`d${i}`, size.pods));
  const wanted = size.deployments * size.pods;
  await eventually(async () => (await readyPods(client)) === wanted, { ...PATIENCE, what: "every pod is ready" });
  const readySeconds = seconds(began);
  const ready = await cpuOf(parts);
  const goneBegan = performance.now();
  await client.call("DELETE", DEPLOYMENTS, { propagationPolicy: "Background" });
  const areGone = async () => (await client.call("GET", `${PODS}?limit=1`)).body.items.length === 0;
  await eventually(areGone, { ...PATIENCE, what: "every pod is gone" });
  const after = await cpuOf(parts);
  return {
    nodesSeconds,
    podsPerSecond: wanted / readySeconds,
    goneSeconds: seconds(goneBegan),
    cpuReadySeconds: ready.server - before.server,
    allCpuReadySeconds: total(ready) - total(before),
    allCpuSeconds: total(after) - total(before),
    cpuSeconds: after.server - before.server,
    etcdCpuSeconds: after.etcd - before.etcd,
    programsCpuSeconds: after.programs - before.programs,
    managerCpuSeconds: after.manager - before.manager,
    peakMegabytes: await peakMegabytes(server),
  };
}

/** A server, and who runs the controllers. */
interface Variant {
  readonly title: string;
  readonly name: ServerName;
  /** What the server does itself. Default: nothing. */
  readonly own?: "controllers" | "cluster";
  readonly store: StoreName;
}

const KUBE_APISERVER: Variant = { title: "kube-apiserver", name: "kube-apiserver", store: "etcd" };

async function measure(variant: Variant, size: Size): Promise<Measured> {
  const { name, store, own } = variant;
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-bench-cluster-"));
  const parts = { ownControllers: own !== undefined, ownCluster: own === "cluster" };
  const server = await startClusterServer(name, folder, { store, nodeFlags: NODE_FLAGS, ...parts });
  try {
    const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
    const options = { flags: PROGRAM_FLAGS, hasManager: own === undefined };
    const programs = own === "cluster" ? undefined : await startPrograms(server, admin, folder, options);
    try {
      return await load(clientFor(server.base, tokens.admin), server.pid, size, variant);
    } finally {
      await programs?.stop();
    }
  } finally {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

const FIGURES: readonly (readonly [name: string, figure: keyof Measured])[] = [
  ["nodes ready, s", "nodesSeconds"],
  ["pods ready/s", "podsPerSecond"],
  ["pods gone, s", "goneSeconds"],
  ["CPU until ready, s", "cpuReadySeconds"],
  ["CPU, s", "cpuSeconds"],
  ["etcd's CPU, s", "etcdCpuSeconds"],
  ["the programs' CPU, s", "programsCpuSeconds"],
  ["the manager's CPU, s", "managerCpuSeconds"],
  ["all CPU until ready, s", "allCpuReadySeconds"],
  ["all CPU, s", "allCpuSeconds"],
  ["peak memory, MB", "peakMegabytes"],
];

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const { values } = parseArgs({
  options: {
    ...{ nodes: text, deployments: text, pods: text, rounds: text, store: text },
    ...{ ours: flag, "own-controllers": flag, "own-cluster": flag, "own-only": flag, help: flag },
  },
});
if (values.help) {
  process.stdout.write(usage);
} else {
  const size = {
    nodes: Number(values.nodes ?? 500),
    deployments: Number(values.deployments ?? 10),
    pods: Number(values.pods ?? 500),
  };
  const store = (values.store ?? "etcd") as StoreName;
  const binnacle: Variant = { title: "binnacle", name: "binnacle", store };
  const ownControllers: Variant = { ...binnacle, title: "own controllers", own: "controllers" };
  const ownClusters = (values.store === undefined ? (["memory", "etcd"] as const) : [store]).map(
    (one): Variant => ({ title: `own cluster, ${one}`, name: "binnacle", own: "cluster", store: one }),
  );
  const variantsOf = (): readonly Variant[] => {
    if (values["own-only"]) return ownClusters;
    if (values["own-cluster"]) return [...ownClusters, KUBE_APISERVER];
    if (values["own-controllers"]) return [ownControllers, binnacle];
    return values.ours ? [binnacle] : [binnacle, KUBE_APISERVER];
  };
  const variants = variantsOf();
  const results = new Map<Variant, Measured[]>(variants.map((variant) => [variant, []]));
  say(`${describeMachine()}; ${size.nodes} nodes, ${size.deployments} Deployments of ${size.pods} pods`);
  for (let round = 0; round < Number(values.rounds ?? 1); round++) {
    for (const variant of variants) {
      const measured = await measure(variant, size);
      say(`${variant.title}: ${JSON.stringify(measured)}`);
      results.get(variant)?.push(measured);
    }
  }
  const rows = FIGURES.map(([name, figure]) => {
    const each = variants.map((variant) => median((results.get(variant) ?? []).map((one) => one[figure])));
    const theirs = each.at(-1) ?? Number.NaN;
    return [
      name,
      ...each.map((value) => value.toFixed(1)),
      ...each.slice(0, -1).map((value) => (value / theirs).toFixed(2)),
    ];
  });
  const titles = variants.map(({ title }) => title);
  printTable([["", ...titles, ...titles.slice(1).map(() => "ratio")], ...rows]);
}
