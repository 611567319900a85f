import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../../../base/api/object.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import { resourceQuotas } from "./resource-quota.ts";

function start(t: TestContext): TestCluster {
  const cluster = new TestCluster();
  t.after(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });
  cluster.start(resourceQuotas(pick(cluster)));
  return cluster;
}

const pick = ({ resources, client, report }: TestCluster) => ({ resources, client, report });

async function statusOf(cluster: TestCluster, name = "q"): Promise<Json | undefined> {
  return (await cluster.find("resourcequotas", name))?.status;
}

async function setStatus({ resources }: TestCluster, plural: string, name: string, status: JsonObject): Promise<void> {
  const key = { namespace: "default", name };
  await resources.access.update("", plural, key, (current) => ({ ...current, status }), { subresource: "status" });
}

/** Waits until the quota has this usage. */
async function hasUsed(cluster: TestCluster, used: JsonObject, name = "q"): Promise<void> {
  let last: unknown;
  await until(async () => {
    const status = await statusOf(cluster, name);
    last = isObject(status) ? status.used : undefined;
    return isDeepStrictEqual(last, used);
  }).catch(() => assert.deepEqual(last, used));
}

const quota = (hard: JsonObject, more: JsonObject = {}) => ({ content: { spec: { hard, ...more } } });

const pod = (requests: JsonObject, spec: JsonObject = {}) => ({
  content: { spec: { containers: [{ name: "main", image: "image", resources: { requests } }], ...spec } },
});

suite("resourcequota-controller", () => {
  test("counts the objects that exist", async (t) => {
    const cluster = start(t);
    await cluster.create("configmaps", "one");
    await cluster.create("configmaps", "elsewhere", { namespace: "other" });
    await cluster.create("pods", "p1", pod({ cpu: "250m", memory: "1Gi" }));
    await cluster.create("pods", "p2", pod({ cpu: "1" }));
    await cluster.create("leases", "l", { content: { spec: {} } });
    await cluster.create("services", "s");
    const hard = {
      configmaps: "5",
      "count/leases.coordination.k8s.io": "3",
      "count/unknown.example.com": "1",
      pods: "10",
      "requests.cpu": "4",
      "requests.memory": "8Gi",
      "requests.storage": "1Gi",
      services: "0",
      "services.nodeports": "4",
    };
    await cluster.create("resourcequotas", "q", quota(hard));
    await hasUsed(cluster, {
      configmaps: "1",
      "count/leases.coordination.k8s.io": "1",
      pods: "2",
      "requests.cpu": "1250m",
      "requests.memory": "1Gi",
      "requests.storage": "0",
      services: "1",
      "services.nodeports": "0",
    });
    const status = await statusOf(cluster);
    assert.deepEqual(isObject(status) && status.hard, hard);
  });

  test("recounts when an object is deleted", async (t) => {
    const cluster = start(t);
    for (const name of ["a", "b"]) await cluster.create("configmaps", name);
    await cluster.create("resourcequotas", "q", quota({ "count/configmaps": "1" }));
    await hasUsed(cluster, { "count/configmaps": "2" });
    await cluster.delete("configmaps", "a");
    await hasUsed(cluster, { "count/configmaps": "1" });
  });

  test("recounts when a pod has ended", async (t) => {
    const cluster = start(t);
    await cluster.create("pods", "p", pod({ cpu: "1" }));
    await cluster.create("resourcequotas", "q", quota({ "count/pods": "1", pods: "1", cpu: "2" }));
    await hasUsed(cluster, { "count/pods": "1", cpu: "1", pods: "1" });
    await setStatus(cluster, "pods", "p", { phase: "Succeeded" });
    await hasUsed(cluster, { "count/pods": "1", cpu: "0", pods: "0" });
  });

  test("follows changes of spec.hard", async (t) => {
    const cluster = start(t);
    await cluster.create("secrets", "s");
    await cluster.create("resourcequotas", "q", quota({ configmaps: "1" }));
    await hasUsed(cluster, { configmaps: "0" });
    await cluster.change("resourcequotas", "q", (object) => {
      object.spec = { hard: { secrets: "7" } };
    });
    await hasUsed(cluster, { secrets: "1" });
    assert.deepEqual(await statusOf(cluster), { hard: { secrets: "7" }, used: { secrets: "1" } });
  });

  test("counts only pods in the scopes of a quota", async (t) => {
    const cluster = start(t);
    await cluster.create("pods", "plain");
    await cluster.create("pods", "asking", pod({ cpu: "1" }));
    await cluster.create("pods", "short", pod({ cpu: "1" }, { activeDeadlineSeconds: 10 }));
    const selector = { matchExpressions: [{ scopeName: "Terminating", operator: "Exists" }] };
    await cluster.create("resourcequotas", "best", quota({ pods: "1" }, { scopes: ["BestEffort"] }));
    await cluster.create("resourcequotas", "ending", quota({ pods: "5", cpu: "5" }, { scopeSelector: selector }));
    await hasUsed(cluster, { pods: "1" }, "best");
    await hasUsed(cluster, { cpu: "1", pods: "1" }, "ending");
  });

  test("keeps the recorded usage of objects that a partial state lacks", async (t) => {
    const cluster = new TestCluster();
    t.after(() => cluster.stop());
    await cluster.create("configmaps", "seen");
    await cluster.create("resourcequotas", "q", quota({ configmaps: "9", secrets: "9" }));
    await setStatus(cluster, "resourcequotas", "q", { hard: { configmaps: "9" }, used: { configmaps: "5" } });
    cluster.start(resourceQuotas({ ...pick(cluster), isPartial: true }));
    await hasUsed(cluster, { configmaps: "5", secrets: "0" });
    await cluster.delete("configmaps", "seen");
    await hasUsed(cluster, { configmaps: "4", secrets: "0" });
  });
});
