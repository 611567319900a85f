import { Agent, request } from "node:https";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { loopMs, processorMs } from "../test/cost/processor-time.ts";
import { type RunningBinnacle, startBinnacle } from "../test/support/binnacle.ts";
import { tokens } from "../test/support/oracle.ts";
import { describeMachine, percentile, printTable, say } from "./support.ts";

/**
 * How long a user's writes of 100 kB take while another user floods the threads for large requests: with access reviews
 * of 1.8 MB, without any permission, and with ConfigMaps of 1.8 MB that the user may write. Each flood is compared with the
 * quiet server right before it. The processor time that the server uses meanwhile does not depend on what else the machine
 * does: of its event loop, and of all its threads.
 */

const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 60);
const SAMPLES = Number(process.env.BENCH_SAMPLES ?? 300);
const FLOODS = (process.env.BENCH_FLOODS ?? "reviews,configmaps").split(",");
/** How long a flooding connection waits after 429. */
const PAUSE_MS = 100;

interface Flood {
  readonly base: string;
  readonly path: string;
  readonly body: string;
}

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

function send(token: string, method: string, url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const call = request(url, { method, agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    call.on("error", reject);
    call.end(body);
  });
}

const junk = Array.from({ length: 150_000 }, (_, a) => ({ a }));

function floodOf(name: string): Omit<Flood, "base"> {
  if (name === "reviews") {
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    return { path, body: JSON.stringify({ spec, junk }) };
  }
  const path = "/api/v1/namespaces/flood/configmaps?dryRun=All";
  return { path, body: JSON.stringify({ metadata: { generateName: "a-" }, junk }) };
}

/** Runs in a thread of its own, so that it does not delay the measurements. */
async function flood({ base, path, body }: Flood): Promise<void> {
  const codes: Record<number, number> = {};
  parentPort?.on("message", () => parentPort?.postMessage(codes));
  const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const connection = async () => {
    for (;;) {
      const code = await send(tokens.alice, "POST", base + path, body).catch(() => 0);
      codes[code] = (codes[code] ?? 0) + 1;
      if (code === 429 || code === 0) await pause();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

interface Cost {
  readonly ms: number;
  readonly loopMs: number;
  readonly processorMs: number;
}

let written = 0;
async function writes({ base, process: { pid } }: RunningBinnacle, count: number): Promise<Cost[]> {
  const times: Cost[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const name = `b-${written++}`;
    const body = JSON.stringify({ metadata: { name }, data: { a: "x".repeat(100_000) } });
    const url = `${base}/api/v1/namespaces/default/configmaps`;
    const [byLoop, byAll] = [loopMs(pid), processorMs(pid)];
    const begun = performance.now();
    const code = await send(tokens.admin, "POST", url, body);
    const ms = code === 201 ? performance.now() - begun : Number.POSITIVE_INFINITY;
    times.push({ ms, loopMs: loopMs(pid) - byLoop, processorMs: processorMs(pid) - byAll });
    await send(tokens.admin, "DELETE", `${url}/${name}`, "{}");
  }
  return times;
}

async function prepare(base: string): Promise<void> {
  await send(tokens.admin, "POST", `${base}/api/v1/namespaces`, JSON.stringify({ metadata: { name: "flood" } }));
  const rbac = `${base}/apis/rbac.authorization.k8s.io/v1/namespaces/flood`;
  const metadata = { name: "flood" };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await send(tokens.admin, "POST", `${rbac}/roles`, JSON.stringify({ metadata, rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "flood" };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }];
  await send(tokens.admin, "POST", `${rbac}/rolebindings`, JSON.stringify({ metadata, roleRef, subjects }));
}

async function main(): Promise<void> {
  const rows = [["flood", "", "p50", "p99", "p99 of the event loop", "p99 of all threads", "flood's answers"]];
  const row = (name: string, when: string, costs: readonly Cost[], codes: unknown) => {
    const cell = (read: (cost: Cost) => number, share: number) => percentile(costs.map(read), share).toFixed(1);
    const wait = [cell(({ ms }) => ms, 0.5), cell(({ ms }) => ms, 0.99)];
    const used = [cell((cost) => cost.loopMs, 0.99), cell((cost) => cost.processorMs, 0.99)];
    rows.push([name, when, ...wait, ...used, JSON.stringify(codes)]);
    say(rows.at(-1)?.join(" ") ?? "");
  };
  for (const name of FLOODS) {
    const server = await startBinnacle({ flags: ["--authorization-mode=RBAC"] });
    const { base } = server;
    await prepare(base);
    await writes(server, 50);
    row(name, "quiet", await writes(server, SAMPLES), {});
    const worker = new Worker(new URL(import.meta.url), { workerData: { base, ...floodOf(name) } satisfies Flood });
    // The flood has filled the queue, and the threads it needs are running.
    await writes(server, 20);
    const flooded = await writes(server, SAMPLES);
    const codes = await new Promise((resolve) => {
      worker.once("message", resolve);
      worker.postMessage("codes");
    });
    await worker.terminate();
    await server.kill();
    row(name, "flooded", flooded, codes);
  }
  say(`${describeMachine()}, ${CONNECTIONS} flooding connections, ${SAMPLES} writes of 100 kB, times in ms`);
  printTable(rows);
}

if (isMainThread) {
  await main();
  process.exit(0);
} else await flood(workerData as Flood);
