import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { BatchV1Api, CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
const cp = forkPerTest(hooks, { controllers: "*", cluster: { nodes: 2 }, clock: { at: "2026-01-01T00:00:00Z" } });
const core = () => cp().client(CoreV1Api);

suite("simulated nodes of a control plane", () => {
  test("run Pods under the Node authorizer and NodeRestriction", async () => {
    const spec = { nodeName: "node-2", containers: [{ name: "main", image: "nginx" }] };
    await core().createNamespacedPod({ namespace, body: { metadata: { name: "web" }, spec } });
    await cp().settled();
    const pod = await core().readNamespacedPod({ namespace, name: "web" });
    assert.equal(pod.status?.phase, "Running");
    const authors = (await cp().history({ apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace } })).map(
      ({ user }) => user,
    );
    assert.equal(authors.at(-1), "system:node:node-2");
    await core().deleteNamespacedPod({ namespace, name: "web" });
    await cp().settled();
    assert.deepEqual((await core().listNamespacedPod({ namespace })).items, []);
  });

  test("let Jobs complete as time passes", async () => {
    const template = {
      spec: { restartPolicy: "Never", nodeName: "node-1", containers: [{ name: "main", image: "pi" }] },
    };
    const body = { metadata: { name: "pi" }, spec: { completions: 3, parallelism: 1, template } };
    await cp().client(BatchV1Api).createNamespacedJob({ namespace, body });
    await cp().clock.advance({ seconds: 30 });
    const { status } = await cp().client(BatchV1Api).readNamespacedJob({ namespace, name: "pi" });
    assert.deepEqual([status?.succeeded, status?.conditions?.at(-1)?.type], [3, "Complete"]);
  });

  test("stay alive for the node controllers, and are gone when they are deleted, also in forks", async () => {
    await core().deleteNode({ name: "node-1" });
    await cp().clock.advance({ minutes: 10 });
    await using fork = await cp().fork();
    await fork.clock.advance({ minutes: 1 });
    const nodes = (await fork.client(CoreV1Api).listNode()).items;
    assert.deepEqual(
      nodes.map(({ metadata, spec, status }) => [
        metadata?.name,
        spec?.taints,
        status?.conditions?.find(({ type }) => type === "Ready")?.status,
      ]),
      [["node-2", undefined, "True"]],
    );
  });
});
