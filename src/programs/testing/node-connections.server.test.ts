import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { AppsV1Api, CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
const cp = forkPerTest(hooks, { cluster: { nodes: 2 }, clock: { at: "2026-01-01T00:00:00Z" } });
const core = () => cp().client(CoreV1Api);

/** The status of the condition Ready, and the effects of the taints for unreachable nodes. */
async function nodeState(name: string): Promise<string[]> {
  const { status, spec } = await core().readNode({ name });
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "";
  const taints = (spec?.taints ?? []).filter(({ key }) => key === "node.kubernetes.io/unreachable");
  return [ready, ...taints.map(({ effect }) => effect).sort()];
}

async function deploy(): Promise<void> {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web" }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await cp()
    .client(AppsV1Api)
    .createNamespacedDeployment({ namespace, body: { metadata: { name: "web" }, spec } });
  await cp().settled();
}

/** The names of Pods on a node, and whether each is being deleted. */
async function podsOn(node: string): Promise<[string | undefined, boolean][]> {
  const { items } = await core().listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${node}` });
  return items.map(({ metadata }) => [metadata?.name, metadata?.deletionTimestamp !== undefined]);
}

suite("a simulated node that is cut off", () => {
  test("becomes unreachable, loses its Pods after their tolerations, and comes back", async () => {
    await deploy();
    const [[lost] = []] = await podsOn("node-2");
    cp().cluster.disconnect("node-2");
    await cp().clock.advance({ seconds: 40 });
    assert.deepEqual(await nodeState("node-2"), ["True"]);
    await cp().clock.advance({ seconds: 30 });
    assert.deepEqual(await nodeState("node-2"), ["Unknown", "NoExecute", "NoSchedule"]);
    assert.deepEqual(await nodeState("node-1"), ["True"]);
    await cp().clock.advance({ minutes: 6 });
    assert.deepEqual(await podsOn("node-2"), [[lost, true]], "the node cannot confirm that the Pod has stopped");
    assert.equal((await podsOn("node-1")).length, 2, "another Pod replaces it");
    cp().cluster.reconnect("node-2");
    await cp().clock.advance({ seconds: 20 });
    assert.deepEqual(await nodeState("node-2"), ["True"]);
    assert.deepEqual(await podsOn("node-2"), []);
  });

  test("does not answer, and stays cut off in forks until it is reconnected there", async () => {
    await deploy();
    const [[name = ""] = []] = await podsOn("node-1");
    const log = async (plane = cp()) => (await plane.fetch(`/api/v1/namespaces/${namespace}/pods/${name}/log`)).status;
    assert.equal(await log(), 200);
    cp().cluster.disconnect("node-1");
    assert.equal(await log(), 500);
    await using fork = await cp().fork();
    await fork.clock.advance(0);
    assert.equal(await log(fork), 500);
    fork.cluster.reconnect("node-1");
    assert.deepEqual([await log(fork), await log()], [200, 500]);
  });

  test("is connected again after reset()", async () => {
    cp().cluster.disconnect("node-1");
    await cp().reset();
    await cp().clock.advance({ minutes: 2 });
    assert.deepEqual(await nodeState("node-1"), ["True"]);
  });
});

suite("forks of a simulated cluster", () => {
  test("run their own Pods and functions", async () => {
    cp().cluster.image("counted", ({ env, log, signal }) => {
      log(`fork ${env.NUMBER}`);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(0)));
    });
    await deploy();
    const forks = await Promise.all([1, 2, 3].map(() => cp().fork()));
    for (const [number, fork] of forks.entries()) {
      const containers = [{ name: "main", image: "counted", env: [{ name: "NUMBER", value: String(number) }] }];
      await fork
        .client(CoreV1Api)
        .createNamespacedPod({ namespace, body: { metadata: { name: "own" }, spec: { containers } } });
      await fork.settled();
    }
    const read = async (fork: (typeof forks)[number]) => {
      const { items } = await fork.client(CoreV1Api).listNamespacedPod({ namespace });
      const log = await (await fork.fetch(`/api/v1/namespaces/${namespace}/pods/own/log`)).text();
      await fork.close();
      return [items.length, log];
    };
    assert.deepEqual(await Promise.all(forks.map(read)), [
      [3, "fork 0\n"],
      [3, "fork 1\n"],
      [3, "fork 2\n"],
    ]);
    assert.equal((await core().listNamespacedPod({ namespace })).items.length, 2);
  });
});
