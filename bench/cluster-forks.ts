import { type ControlPlane, startControlPlane } from "../src/testing.ts";

/**
 * Forks of a simulated cluster with 100 running Pods: processor time and memory of each. First they are only made, then each creates
 * a Pod, whose function has a log of its own. All are alive at the end. Needs `--expose-gc` for memory. Arguments: the number of forks,
 * and of those that act.
 */
const [forks = "1000", acting = "100"] = process.argv.slice(2);
const PODS = 100;
const NODES = 10;

const say = (what: string, figures: string): void => void process.stdout.write(`${what.padEnd(50)} ${figures}\n`);
const collect = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
};
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function measure(what: string, count: number, work: (number: number) => Promise<void>): Promise<void> {
  const [beforeMs, beforeKb] = [processorMs(), collect()];
  for (let number = 0; number < count; number += 1) await work(number);
  const ms = (processorMs() - beforeMs) / count;
  say(what, `${ms.toFixed(2)} ms, ${((collect() - beforeKb) / count).toFixed(0)} KB each`);
}

const pods = "/api/v1/namespaces/default/pods";

async function send(plane: ControlPlane, method: string, path: string, body?: object) {
  const headers = { "content-type": "application/json" };
  const response = await plane.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return text;
}

async function act(plane: ControlPlane, number: number): Promise<void> {
  const env = [{ name: "NUMBER", value: String(number) }];
  const containers = [{ name: "main", image: "counted:1", env }];
  await send(plane, "POST", pods, { metadata: { name: "own" }, spec: { containers } });
  await plane.settled();
}

async function check(plane: ControlPlane, number: number): Promise<void> {
  const log = await send(plane, "GET", `${pods}/own/log`);
  const { items } = JSON.parse(await send(plane, "GET", pods));
  if (log !== `fork ${number}\n` || items.length !== PODS + 1) {
    throw new Error(`fork ${number} has ${items.length} Pods and the log ${JSON.stringify(log)}`);
  }
}

await using plane = await startControlPlane({ cluster: { nodes: NODES }, clock: { at: "2026-01-01T00:00:00Z" } });
plane.cluster.image("counted:*", ({ env, log, signal }) => {
  log(`fork ${env.NUMBER}`);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(0)));
});
const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
const spec = { replicas: PODS, selector: { matchLabels: labels }, template };
await send(plane, "POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "web" }, spec });
await plane.settled({ withinMs: 60_000 });
await send(plane, "GET", pods);

const made: ControlPlane[] = [];
await measure("make a fork", Number(forks), async () => void made.push(await plane.fork()));
const some = made.slice(0, Number(acting));
await measure("create a Pod in it and settle", some.length, (number) => act(some[number] as ControlPlane, number));
for (const [number, one] of some.entries()) await check(one, number);
const { items } = JSON.parse(await send(plane, "GET", pods));
if (items.length !== PODS) throw new Error(`the origin has ${items.length} Pods`);
say("independent", `${some.length} forks have one Pod and one log more, each its own`);
await Promise.all(made.map((one) => one.close()));
