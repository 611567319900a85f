import type { JsonObject } from "../src/base/api/object.ts";
import { startBinnacle } from "../test/support/binnacle.ts";
import { clientFor } from "../test/support/client.ts";
import { eventually } from "../test/support/time.ts";
import { type Contestant, describeMachine, median, printTable, say, token } from "./support.ts";
import { loadCreates } from "./support-load.ts";
import { podBody } from "./support-pods.ts";

/**
 * Pods created with no policies, with 100 that judge each of them, and with 1,000 that judge something else: processor time
 * of the server per Pod, in turn.
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 8);
const CONNECTIONS = 8;
const ROOT = "/apis/admissionregistration.k8s.io/v1";

/** What real policies ask of Pods. */
const EXPRESSIONS = [
  "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",
  "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
  "!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
];

async function addPolicies(base: string, count: number, resources: readonly string[]): Promise<void> {
  const client = clientFor(base, token);
  const post = async (plural: string, body: JsonObject) => {
    const { status } = await client.call("POST", `${ROOT}/${plural}`, body);
    if (status !== 201) throw new Error(`${plural}: ${status}`);
  };
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: [...resources] };
  for (let index = 0; index < count; index++) {
    const metadata = { name: `policy-${index}` };
    const validations = [{ expression: EXPRESSIONS[index % EXPRESSIONS.length] ?? "true" }];
    await post("validatingadmissionpolicies", {
      metadata,
      spec: { matchConstraints: { resourceRules: [rule] }, validations },
    });
    const spec = { policyName: metadata.name, validationActions: ["Deny"] };
    await post("validatingadmissionpolicybindings", { metadata, spec });
  }
}

const CASES: readonly (readonly [name: string, count: number, resources: readonly string[]])[] = [
  ["no policies", 0, []],
  ["100 that match", 100, ["pods"]],
  ["1,000 that do not", 1000, ["services"]],
];

async function main(): Promise<void> {
  say(describeMachine());
  const servers: (Contestant & { kill(): Promise<void> })[] = [];
  try {
    for (const [name, count, resources] of CASES) {
      const { base, process: child, kill } = await startBinnacle({ store: "memory" });
      servers.push({ name, base, pid: child.pid, kill });
      const client = clientFor(base, token);
      await client.call("POST", "/api/v1/namespaces", { metadata: { name: "bench" } });
      await client.call("POST", "/api/v1/namespaces/bench/serviceaccounts", { metadata: { name: "default" } });
      await eventually(async () => (await client.call("GET", "/api/v1/namespaces/bench")).status === 200);
      await addPolicies(base, count, resources);
    }
    const body = JSON.stringify(podBody("pod-@"));
    const load = (server: Contestant, seconds: number) =>
      loadCreates(server, {
        path: "/api/v1/namespaces/bench/pods?dryRun=All",
        body,
        connections: CONNECTIONS,
        seconds,
      });
    for (const server of servers) await load(server, WARM_UP_SECONDS);
    const costs = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers) costs.get(server.name)?.push((await load(server, SECONDS)).cpuMsPerRequest);
    }
    const plain = median(costs.get("no policies") ?? []);
    const rows = [...costs].map(([name, list]) => {
      const cost = median(list);
      return [name, cost.toFixed(3), (cost / plain).toFixed(2)];
    });
    printTable([["policies", "ms of processor per Pod", "times none"], ...rows]);
  } finally {
    for (const server of servers) await server.kill();
  }
}

await main();
