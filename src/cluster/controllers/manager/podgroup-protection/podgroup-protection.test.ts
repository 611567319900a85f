import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { FeatureGates } from "../../../../base/api/feature-gates.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { until } from "../../shared/controllers.suite.ts";
import { WorkloadCluster } from "../workloads.suite.ts";
import { podGroupProtection } from "./podgroup-protection.ts";

const FINALIZER = "scheduling.k8s.io/podgroup-protection";

suite("podgroup-protection-controller", () => {
  let cluster: WorkloadCluster;

  beforeEach(() => {
    cluster = new WorkloadCluster(new MemoryStore(), { features: new FeatureGates({ GenericWorkload: true }) });
    cluster.start(podGroupProtection(cluster));
  });
  afterEach(() => cluster.end());

  const addGroup = () =>
    cluster.create("podgroups", "team", {
      finalizers: [FINALIZER],
      content: { spec: { schedulingPolicy: { basic: {} } } },
    });
  const addPod = (name: string) =>
    cluster.post("pods", name, {
      containers: [{ name: "main", image: "nginx" }],
      schedulingGroup: { podGroupName: "team" },
    });
  const isThere = async () => (await cluster.find("podgroups", "team")) !== undefined;

  test("lets go of a deleted PodGroup without Pods", async () => {
    await addGroup();
    await cluster.delete("podgroups", "team");
    await until(async () => !(await isThere()));
  });

  test("protects a PodGroup until its last Pod has finished or is gone", async () => {
    await addGroup();
    for (const name of ["one", "two"]) await addPod(name);
    await cluster.delete("podgroups", "team");
    await cluster.setPod("one", "Succeeded");
    assert.equal(await isThere(), true);
    await cluster.delete("pods", "two", { gracePeriodSeconds: 0 });
    await until(async () => !(await isThere()));
  });
});
