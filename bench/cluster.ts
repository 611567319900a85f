import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { PROGRAMS, startPrograms } from "../test/cluster/programs.ts";
import { type ServerName, startClusterServer } from "../test/cluster/server.ts";
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
    await create(client, "/api/v1/nodes", { metadata: { name, labels }, status: { allocatable: capacity, capacity } });
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

async function load(client: Client, server: number, size: Size, hasManager: boolean): Promise<Measured> {
  const manager = hasManager ? [await childPid("kube-controller-manager")] : [];
  const others = PROGRAMS.filter((name) => name !== "kube-controller-manager").map((name) => childPid(name));
  const programs = [...manager, ...(await Promise.all(others))];
  const parts = { server: [server], etcd: [await childPid("etcd")], programs, manager };
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
  const cpuReady = await sumCpu([server]);
  const goneBegan = performance.now();
  await client.call("DELETE", DEPLOYMENTS, { propagationPolicy: "Background" });
  const areGone = async () => (await client.call("GET", `${PODS}?limit=1`)).body.items.length === 0;
  await eventually(areGone, { ...PATIENCE, what: "every pod is gone" });
  const after = await cpuOf(parts);
  return {
    nodesSeconds,
    podsPerSecond: wanted / readySeconds,
    goneSeconds: seconds(goneBegan),
    cpuReadySeconds: cpuReady - before.server,
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
  readonly ownControllers?: boolean;
}

const BINNACLE: Variant = { title: "binnacle", name: "binnacle" };
const OWN: Variant = { title: "own controllers", name: "binnacle", ownControllers: true };
const KUBE_APISERVER: Variant = { title: "kube-apiserver", name: "kube-apiserver" };

async function measure({ name, ownControllers = false }: Variant, store: StoreName, size: Size): Promise<Measured> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-bench-cluster-"));
  const server = await startClusterServer(name, folder, { store, nodeFlags: NODE_FLAGS, ownControllers });
  try {
    const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
    const programs = await startPrograms(server, admin, folder, { flags: PROGRAM_FLAGS, hasManager: !ownControllers });
    try {
      return await load(clientFor(server.base, tokens.admin), server.pid, size, !ownControllers);
    } finally {
      await programs.stop();
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
  ["peak memory, MB", "peakMegabytes"],
];

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const { values } = parseArgs({
  options: {
    ...{ nodes: text, deployments: text, pods: text, rounds: text, store: text },
    ...{ ours: flag, "own-controllers": flag, help: flag },
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
  const other = values["own-controllers"] ? [OWN, BINNACLE] : [BINNACLE, KUBE_APISERVER];
  const variants: readonly Variant[] = values.ours ? [BINNACLE] : other;
  const results = new Map<Variant, Measured[]>(variants.map((variant) => [variant, []]));
  say(`${describeMachine()}; ${size.nodes} nodes, ${size.deployments} Deployments of ${size.pods} pods`);
  for (let round = 0; round < Number(values.rounds ?? 1); round++) {
    for (const variant of variants) {
      const measured = await measure(variant, (values.store ?? "etcd") as StoreName, size);
      say(`${variant.title}: ${JSON.stringify(measured)}`);
      results.get(variant)?.push(measured);
    }
  }
  const rows = FIGURES.map(([name, figure]) => {
    const each = variants.map((variant) => median((results.get(variant) ?? []).map((one) => one[figure])));
    const [ours = Number.NaN, theirs] = each;
    return [
      name,
      ...each.map((value) => value.toFixed(1)),
      ...(theirs === undefined ? [] : [(ours / theirs).toFixed(2)]),
    ];
  });
  printTable([["", ...variants.map(({ title }) => title), ...(variants.length > 1 ? ["ratio"] : [])], ...rows]);
}
