import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { mandatoryObjects, suggestedObjects } from "../../../kinds/built-in/flowcontrol/fixed-objects.ts";
import { TestCluster, until } from "../shared/controllers.suite.ts";
import { FlowControl } from "./flow-control.ts";

const LEVELS = "prioritylevelconfigurations";
const SCHEMAS = "flowschemas";
const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";

const control = (cluster: TestCluster) =>
  new FlowControl(cluster, { mandatory: mandatoryObjects, suggested: suggestedObjects });

const limited = (object: KubeObject | undefined): JsonObject =>
  ((object?.spec as JsonObject)?.limited as JsonObject) ?? {};

function dangling(object: KubeObject | undefined): string | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: JsonObject[] };
  return conditions.find(({ type }) => type === "Dangling")?.reason as string | undefined;
}

test("creates the mandatory and suggested objects once, and keeps them", async () => {
  const cluster = new TestCluster();
  const flow = control(cluster);
  await flow.prepare();
  assert.deepEqual([await cluster.count(LEVELS), await cluster.count(SCHEMAS)], [8, 11]);
  const exempt = await cluster.find(SCHEMAS, "exempt");
  assert.ok(exempt);
  assert.equal(dangling(exempt), "Found");
  const managers = (exempt.metadata.managedFields as JsonObject[]).map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].join(),
  );
  assert.deepEqual(managers, [
    "api-priority-and-fairness-config-consumer-v1,Apply,status",
    "api-priority-and-fairness-config-producer-v1,Update,",
  ]);
  const revision = await cluster.store.revision();
  await flow.prepare();
  assert.equal(await cluster.store.revision(), revision);
  await cluster.stop();
});

test("updates suggested objects unless autoupdate-spec is false", async () => {
  const cluster = new TestCluster();
  const flow = control(cluster);
  await flow.prepare();
  const share = (value: number) => (object: KubeObject) => {
    limited(object).nominalConcurrencyShares = value;
  };
  await cluster.change(LEVELS, "system", share(1));
  await cluster.change(LEVELS, "workload-low", (object) => {
    share(1)(object);
    object.metadata.annotations = { [AUTO_UPDATE]: "false" };
  });
  await cluster.create(LEVELS, "left-over", {
    content: {
      metadata: { name: "left-over", annotations: { [AUTO_UPDATE]: "true" } },
      spec: suggestedObjects.levels[0]?.spec,
    },
  });
  await cluster.delete(SCHEMAS, "probes");
  await flow.prepare();
  const shares = async (name: string) => limited(await cluster.find(LEVELS, name)).nominalConcurrencyShares;
  assert.deepEqual([await shares("system"), await shares("workload-low")], [30, 1]);
  assert.equal(await cluster.find(LEVELS, "left-over"), undefined);
  assert.ok(await cluster.find(SCHEMAS, "probes"));
  await cluster.stop();
});

test("sets the condition Dangling of a FlowSchema at once", async () => {
  const cluster = new TestCluster();
  cluster.start(control(cluster));
  const spec = { priorityLevelConfiguration: { name: "mine" }, matchingPrecedence: 5 };
  await cluster.create(SCHEMAS, "mine", { content: { spec } });
  const reason = async () => dangling(await cluster.find(SCHEMAS, "mine"));
  await until(async () => (await reason()) === "NotFound");
  await cluster.create(LEVELS, "mine", { content: { spec: suggestedObjects.levels[0]?.spec } });
  await until(async () => (await reason()) === "Found");
  await cluster.delete(LEVELS, "mine");
  await until(async () => (await reason()) === "NotFound");
  assert.deepEqual(cluster.problems, []);
  await cluster.stop();
});
