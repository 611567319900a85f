import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { until } from "../../shared/controllers.suite.ts";
import { GarbageCollection } from "../garbage-collector/garbage-collection.ts";
import { volumeExpander } from "../persistentvolume-expander/expander.ts";
import { volumeProtection } from "../persistentvolume-protection/volume-protection.ts";
import { claimProtection } from "../persistentvolumeclaim-protection/claim-protection.ts";
import { statefulSets } from "../statefulset/statefulset.ts";
import { claimSpec, VolumeCluster } from "../volumes.suite.ts";
import { workload } from "../workloads.suite.ts";
import { volumeBinder } from "./binder.ts";

const CLAIMS = ["data-db-0", "data-db-1", "data-db-2"];

suite("StatefulSets on simulated storage", () => {
  let cluster: VolumeCluster;

  beforeEach(async () => {
    cluster = new VolumeCluster();
    cluster.start(
      ...[statefulSets(cluster), volumeBinder(cluster), volumeExpander(cluster)],
      ...[claimProtection(cluster), volumeProtection(cluster), new GarbageCollection(cluster)],
    );
    await cluster.addClass("simulated", "simulated.binnacle.dev", { allowVolumeExpansion: true });
  });
  afterEach(() => cluster.end());

  const create = async (more: JsonObject = {}) => {
    const spec = claimSpec("1Gi", { storageClassName: "simulated" });
    const volumeClaimTemplates = [{ metadata: { name: "data" }, spec }];
    await cluster.post("statefulsets", "db", workload("db:1", { replicas: 3, volumeClaimTemplates, ...more }));
    await cluster.untilReady(async () => (await cluster.pods()).length === 3);
    return Promise.all(CLAIMS.map((name) => cluster.hasClaim(name, "Bound")));
  };
  const volumeCount = () => cluster.count("persistentvolumes");

  test("give every Pod a volume, and keep it when the Pod is replaced", async () => {
    const claims = await create();
    const volumes = new Set(claims.map(({ spec }) => spec.volumeName));
    assert.equal(volumes.size, 3);
    assert.equal(await volumeCount(), 3);
    const uid = async () => (await cluster.find("pods", "db-1"))?.metadata.uid;
    const before = await uid();
    await cluster.delete("pods", "db-1", { gracePeriodSeconds: 0 });
    await until(async () => ![undefined, before].includes(await uid()));
    assert.equal((await cluster.hasClaim("data-db-1", "Bound")).spec.volumeName, claims[1]?.spec.volumeName);
    assert.equal(await volumeCount(), 3);
  });

  test("grow their volumes", async () => {
    await create();
    await cluster.merge("persistentvolumeclaims", "data-db-0", {
      spec: { resources: { requests: { storage: "5Gi" } } },
    });
    await until(async () => (await cluster.claim("data-db-0"))?.status?.capacity?.storage === "5Gi");
  });

  test("delete claims and volumes if their policy says so", async () => {
    await create({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" } });
    await until(async () => (await cluster.claim("data-db-2"))?.metadata.ownerReferences !== undefined);
    await cluster.remove("statefulsets", "db");
    await until(async () => {
      // A kubelet would end the Pods.
      for (const { metadata } of await cluster.pods()) {
        if (metadata.deletionTimestamp) await cluster.delete("pods", metadata.name ?? "", { gracePeriodSeconds: 0 });
      }
      return (await volumeCount()) === 0;
    });
    assert.equal(await cluster.count("persistentvolumeclaims"), 0);
  });
});
