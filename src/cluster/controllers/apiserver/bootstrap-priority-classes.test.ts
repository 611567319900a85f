import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../storage/memory.ts";
import { TestCluster } from "../shared/controllers.suite.ts";
import { createSystemPriorities } from "./bootstrap-priority-classes.ts";

test("creates two priority classes once, even if several servers start concurrently", async () => {
  const store = new MemoryStore();
  for (const domain of ["k8s.io", "k8s.io", "example.org"]) {
    const cluster = new TestCluster(store, { apiDomain: domain });
    await Promise.all([createSystemPriorities(cluster), createSystemPriorities(cluster)]);
    const classes = await cluster.resources.access.list("scheduling.k8s.io", "priorityclasses", "");
    assert.deepEqual(
      classes.map(({ metadata, value, preemptionPolicy, globalDefault }) => [
        metadata.name,
        value,
        preemptionPolicy,
        globalDefault ?? false,
        metadata.generation,
      ]),
      [
        ["system-cluster-critical", 2_000_000_000, "PreemptLowerPriority", false, 1],
        ["system-node-critical", 2_000_001_000, "PreemptLowerPriority", false, 1],
      ],
    );
  }
});
