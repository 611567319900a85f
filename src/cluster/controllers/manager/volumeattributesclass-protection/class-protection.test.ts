import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { until } from "../../shared/controllers.suite.ts";
import { claimSpec, VolumeCluster, volumeSpec } from "../volumes.suite.ts";
import { classProtection } from "./class-protection.ts";

const FINALIZER = "kubernetes.io/vac-protection";
const CLASSES = "volumeattributesclasses";

suite("volumeattributesclass-protection-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(classProtection(cluster));
  });
  afterEach(() => cluster.end());

  const create = async (name: string) => {
    await cluster.add(CLASSES, name, { driverName: "example.com", parameters: { iops: "1" } });
    const isProtected = async () =>
      (await cluster.find(CLASSES, name, ""))?.metadata.finalizers?.includes(FINALIZER) === true;
    await until(isProtected);
  };

  for (const { user, plural, add } of [
    { user: "claim", plural: "persistentvolumeclaims", add: () => cluster.addClaim("user", claimSpec("1Gi", GOLD)) },
    { user: "volume", plural: "persistentvolumes", add: () => cluster.addVolume("user", volumeSpec("1Gi", GOLD)) },
  ]) {
    test(`keeps a deleted class while a ${user} names it`, async () => {
      for (const name of ["gold", "silver"]) await create(name);
      await add();
      for (const name of ["gold", "silver"]) await cluster.remove(CLASSES, name);
      await cluster.isGone(CLASSES, "silver");
      assert.ok(await cluster.find(CLASSES, "gold", ""));
      await cluster.remove(plural, "user");
      await cluster.isGone(CLASSES, "gold");
    });
  }
});

const GOLD = { volumeAttributesClassName: "gold" };
