import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInKinds } from "../kinds/all.ts";
import { systemClock } from "../lib/clock.ts";
import { systemRandom } from "../lib/random.ts";
import { Catalog } from "../resources/model/catalog.ts";
import { KeySpace } from "../resources/model/keys.ts";
import { Resources } from "../resources/resources.ts";
import { MemoryStore } from "../storage/memory.ts";
import { createSystemPriorities } from "./bootstrap-priority-classes.ts";

test("every cluster has two priority classes, made once, whoever starts at the same moment", async () => {
  const store = new MemoryStore();
  const keys = new KeySpace("/registry");
  for (const domain of ["k8s.io", "k8s.io", "example.org"]) {
    const catalog = new Catalog(builtInKinds(domain));
    const resources = new Resources({ store, catalog, clock: systemClock, random: systemRandom, keys });
    await Promise.all([createSystemPriorities(resources), createSystemPriorities(resources)]);
    const classes = await resources.access.list("scheduling.k8s.io", "priorityclasses", "");
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
