import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { until } from "../../shared/controllers.suite.ts";
import { VolumeCluster } from "../volumes.suite.ts";
import { volumeProtection } from "./volume-protection.ts";

const FINALIZER = "kubernetes.io/pv-protection";
const VOLUMES = "persistentvolumes";

suite("persistentvolume-protection-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(volumeProtection(cluster));
  });
  afterEach(() => cluster.end());

  const create = async (name = "disk") => {
    await cluster.addVolume(name);
    await until(async () => (await cluster.volume(name))?.metadata.finalizers?.includes(FINALIZER) === true);
  };

  test("keeps a deleted volume while it is bound", async () => {
    await create();
    await create("other");
    await cluster.merge(VOLUMES, "disk", { status: { phase: "Bound" } }, "status");
    await cluster.remove(VOLUMES, "disk");
    await cluster.remove(VOLUMES, "other");
    await cluster.isGone(VOLUMES, "other");
    assert.ok((await cluster.volume("disk"))?.metadata.deletionTimestamp);
    await cluster.merge(VOLUMES, "disk", { status: { phase: "Released" } }, "status");
    await cluster.isGone(VOLUMES, "disk");
  });
});
