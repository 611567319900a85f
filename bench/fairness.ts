import { Agent, request } from "node:https";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { startBinnacle } from "../test/support/binnacle.ts";
import { type Client, clientFor } from "../test/support/client.ts";
import { startOracle, tokens } from "../test/support/oracle.ts";
import { describeMachine, percentile, printTable, say } from "./support.ts";
import { podBody } from "./support-pods.ts";

/**
 * How long requests take while other users flood the server: a node that renews its Lease every 100 ms, the controller
 * manager that updates, and a person who reads. One user lists all Pods on 200 connections, another one creates objects on 50.
 * Both servers, each on its own etcd, with and without priority and fairness, one after the other.
 */

const PODS = Number(process.env.BENCH_PODS ?? 1000);
const LISTERS = Number(process.env.BENCH_LISTERS ?? 200);
const CREATORS = Number(process.env.BENCH_CREATORS ?? 50);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 15);
const SERVERS = (process.env.BENCH_SERVERS ?? "binnacle,kube-apiserver").split(",");
const FLOODS = (process.env.BENCH_FLOODS ?? "lists,large-bodies,watches,expressions").split(",");
const LEASE_MS = 100;
const PAUSE_MS = 100;
/** No controller makes the default service accounts that this plugin asks for. */
const NO_ACCOUNTS = "--disable-admission-plugins=ServiceAccount";

interface Flood {
  readonly base: string;
  readonly user: string;
  readonly method: string;
  readonly path: string;
  /** `@` stands for a number that no other request has. */
  readonly body: string;
  readonly connections: number;
  /** Close each connection after the first bytes, for watches. */
  readonly isCut: boolean;
}

interface Sent {
  readonly status: number;
  readonly ms: number;
}

function send(agent: Agent, flood: Omit<Flood, "connections">): Promise<Sent> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const { base, path, method, user, body, isCut } = flood;
    const headers = {
      authorization: `Bearer ${tokens.admin}`,
      "impersonate-user": user,
      "impersonate-group": ["system:authenticated", ...(user.startsWith("system:node:") ? ["system:nodes"] : [])],
      ...(body === ""
        ? {}
        : {
            "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
            "content-length": Buffer.byteLength(body),
          }),
    };
    const call = request(`${base}${path}`, { method, agent, headers: headers as never }, (response) => {
      const done = () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - startMs });
      response.resume().once("end", done).once("error", reject);
      if (isCut) {
        response.once("data", () => {
          call.destroy();
          done();
        });
      }
    });
    call.on("error", (error) => (isCut ? resolve({ status: 0, ms: 0 }) : reject(error)));
    call.end(body);
  });
}

/** Runs in a thread of its own, so that it does not delay the measurements. */
function flood(given: Flood): void {
  const agent = new Agent({ keepAlive: !given.isCut, rejectUnauthorized: false, maxSockets: given.connections });
  const counts = new Map<number, number>();
  let sent = 0;
  let isStopped = false;
  parentPort?.on("message", () => {
    isStopped = true;
    parentPort?.postMessage([...counts]);
    process.exit();
  });
  const loop = async () => {
    while (!isStopped) {
      sent++;
      const body = given.body.replaceAll("@", `${process.hrtime.bigint()}-${sent}`);
      const { status } = await send(agent, { ...given, body }).catch(() => ({ status: -1 }));
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status === 429 || status === -1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  for (let index = 0; index < given.connections; index++) void loop();
}

/** What the requests of one client needed. */
interface Measured {
  readonly client: string;
  readonly ms: number[];
  rejected: number;
}

const floodsOf = (name: string, base: string): Flood[] => {
  const list = {
    base,
    user: "lister",
    method: "GET",
    path: "/api/v1/pods",
    body: "",
    connections: LISTERS,
    isCut: false,
  };
  const config = JSON.stringify({ metadata: { name: "c-@" }, data: { key: "x".repeat(1000) } });
  const maps = "/api/v1/namespaces/flood/configmaps";
  const create = { ...list, user: "creator", method: "POST", path: maps, body: config, connections: CREATORS };
  if (name === "lists") return [list, create];
  if (name === "large-bodies") {
    const body = JSON.stringify({ metadata: { name: "c-@" }, data: { key: "x".repeat(900_000) } });
    return [{ ...create, path: `${maps}?dryRun=All`, body }];
  }
  if (name === "watches") return [{ ...list, path: "/api/v1/pods?watch=1", connections: CREATORS, isCut: true }];
  const items = Array.from({ length: 200 }, (_, index) => `k${index}`);
  const data = Object.fromEntries(items.map((key) => [key, "value"]));
  return [
    {
      ...create,
      path: `${maps}?dryRun=All`,
      body: JSON.stringify({ metadata: { name: "c-@", labels: { costly: "yes" } }, data }),
    },
  ];
};

/** A policy whose expression visits each pair of members. */
const POLICY = {
  metadata: { name: "costly" },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      objectSelector: { matchLabels: { costly: "yes" } },
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    },
    validations: [{ expression: "object.data.all(a, object.data.all(b, a.size() + b.size() > 0))" }],
  },
};

async function prepare(client: Client): Promise<void> {
  const post = async (path: string, object: unknown) => {
    const { status, body } = await client.call("POST", path, object);
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
  };
  await post("/api/v1/namespaces", { metadata: { name: "flood" } });
  await post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "bench" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:authenticated" }],
  });
  await post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", POLICY);
  await post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", {
    metadata: { name: "costly" },
    spec: { policyName: "costly", validationActions: ["Deny"] },
  });
  await post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "n1" } });
  await post("/api/v1/namespaces/flood/configmaps", { metadata: { name: "updated" } });
  let made = 0;
  const worker = async () => {
    for (; made < PODS; ) await post("/api/v1/namespaces/flood/pods", podBody(`pod-${made++}`));
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

async function measure(base: string, floods: readonly Flood[]): Promise<{ clients: Measured[]; flooded: string }> {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const probe = { base, isCut: false, body: "" };
  const lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1";
  const probes = [
    { client: "Lease of a node", user: "system:node:n1", method: "PATCH", path: lease, pauseMs: LEASE_MS },
    {
      client: "controller manager",
      user: "system:kube-controller-manager",
      method: "PATCH",
      path: "/api/v1/namespaces/flood/configmaps/updated",
      pauseMs: 20,
    },
    { client: "person", user: "person", method: "GET", path: "/api/v1/namespaces/default", pauseMs: 50 },
  ];
  const workers = floods.map((one) => new Worker(new URL(import.meta.url), { workerData: one }));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const endMs = performance.now() + SECONDS * 1000;
  const clients = await Promise.all(
    probes.map(async ({ client, pauseMs, ...rest }): Promise<Measured> => {
      const measured: Measured = { client, ms: [], rejected: 0 };
      for (let turn = 0; performance.now() < endMs; turn++) {
        const name = rest.path.endsWith("n1") ? "n1" : "updated";
        const body =
          rest.method === "GET" ? "" : JSON.stringify({ metadata: { name, annotations: { turn: String(turn) } } });
        const startMs = performance.now();
        const { status, ms } = await send(agent, { ...probe, ...rest, body });
        if (status === 429) measured.rejected++;
        else if (status !== 200) throw new Error(`${client}: ${status}`);
        measured.ms.push(ms);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs - (performance.now() - startMs))));
      }
      return measured;
    }),
  );
  const counts = await Promise.all(
    workers.map((worker, index) => {
      const counted = new Promise<string>((resolve) => {
        worker.once("message", (codes: [number, number][]) =>
          resolve(`${floods[index]?.user} ${codes.map(([code, count]) => `${count}×${code}`).join(" ")}`),
        );
      });
      worker.postMessage("stop");
      return counted;
    }),
  );
  agent.destroy();
  return { clients, flooded: counts.join("; ") };
}

async function main(): Promise<void> {
  say(describeMachine());
  const rows: string[][] = [];
  for (const isFair of [true, false]) {
    for (const name of SERVERS) {
      const flags = isFair ? [] : ["--enable-priority-and-fairness=false"];
      const server =
        name === "binnacle"
          ? await startBinnacle({ store: "etcd", flags: [...flags, "--authorization-mode=RBAC", NO_ACCOUNTS] })
          : await startOracle({ flags: [...flags, NO_ACCOUNTS] });
      try {
        await prepare(clientFor(server.base, tokens.admin));
        for (const kind of FLOODS) {
          const { clients, flooded } = await measure(server.base, floodsOf(kind, server.base));
          say(`${name}, ${isFair ? "fair" : "not fair"}, ${kind}: ${flooded}`);
          for (const { client, ms, rejected } of clients) {
            const times = [percentile(ms, 0.5), percentile(ms, 0.99)].map((one) => one.toFixed(1));
            rows.push([kind, isFair ? "yes" : "no", name, client, ...times, String(ms.length), String(rejected)]);
          }
        }
      } finally {
        await server.kill();
      }
    }
  }
  rows.sort(([a = "", , , b = ""], [c = "", , , d = ""]) => (a + b < c + d ? -1 : 1));
  printTable([["flood", "fairness", "server", "client", "p50 ms", "p99 ms", "requests", "rejected"], ...rows]);
}

if (isMainThread) await main();
else flood(workerData as Flood);
