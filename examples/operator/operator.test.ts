import assert from "node:assert/strict";
import * as hooks from "node:test";
import { test } from "node:test";
import { AppsV1Api, CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { forkPerTest } from "binnacle/testing";
import { startOperator } from "./operator.ts";

// Every test has a control plane of its own: a fork of this one, with one site in it.
const cp = forkPerTest(hooks, {
  clock: { at: "2026-01-01T00:00:00Z" },
  controllers: "none",
  manifests: `
apiVersion: v1
kind: ConfigMap
metadata: { name: blog, labels: { web.example/site: "yes" } }
data: { replicas: "2" }
`,
});

const namespace = "default";
const core = () => cp().client(CoreV1Api);
const replicasOf = async (name: string) =>
  (
    await cp()
      .client(AppsV1Api)
      .readNamespacedDeployment({ name, namespace })
      .catch(() => undefined)
  )?.spec?.replicas;
const scale = (replicas: string) =>
  core().patchNamespacedConfigMap({
    name: "blog",
    namespace,
    body: [{ op: "replace", path: "/data/replicas", value: replicas }],
  });

function operate() {
  const config = new KubeConfig();
  config.loadFromString(cp().kubeconfig);
  return startOperator(config);
}

test("a site gets its deployment, and loses it", async () => {
  await using _ = await operate();
  await cp().settled();
  assert.equal(await replicasOf("blog"), 2);
  await scale("5");
  await cp().settled();
  assert.equal(await replicasOf("blog"), 5);
  await core().deleteNamespacedConfigMap({ name: "blog", namespace });
  await cp().settled();
  assert.equal(await replicasOf("blog"), undefined);
});

test("somebody else writes the deployment at the same time", async () => {
  await using _ = await operate();
  await cp().settled();
  const fault = cp().faults.conflict({ verb: "update", resource: "deployments", times: 2 });
  await scale("3");
  await cp().settled();
  assert.equal(fault.hits, 2);
  assert.equal(await replicasOf("blog"), 3);
});

test("the connection breaks, and history is gone when it is back", async () => {
  await using _ = await operate();
  await cp().settled();
  cp().faults.expireWatches({ resource: "configmaps" });
  await scale("4");
  await cp().settled();
  assert.equal(await replicasOf("blog"), 4);
});

// An operator that trusted the informer's copy instead of asking would scale back to what it remembers here.
test("an event comes late, when the site has changed again", async () => {
  await using _ = await operate();
  await cp().settled();
  const fault = cp().faults.delayEvents({ resource: "configmaps", name: "blog", by: { seconds: 30 }, times: 1 });
  await scale("7");
  await scale("1");
  await cp().settled();
  assert.equal(fault.hits, 1);
  assert.equal(await replicasOf("blog"), 2, "it knows nothing yet");
  await cp().clock.advance({ seconds: 30 });
  await cp().settled();
  assert.equal(await replicasOf("blog"), 1);
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "blog", namespace } };
  const written = (await cp().history(deployment)).map(({ object }) => (object.spec as { replicas: number }).replicas);
  assert.deepEqual(written, [2, 1], "7 was never written");
});
