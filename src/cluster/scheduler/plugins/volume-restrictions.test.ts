import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { podInfoOf } from "../pod-info.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";
import { volumeRestrictions } from "./volume-restrictions.ts";

const DISK = "node(s) had no available disk";
const IN_USE =
  "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

const using = (name: string, ...volumes: JsonObject[]): Pod =>
  pod(name, { volumes: volumes.map((volume, index) => ({ name: `v${index}`, ...volume })) });
const claim = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

test("VolumeRestrictions rejects nodes whose Pods use the same disk", () => {
  const gce = (pdName: string, readOnly = false) => ({ gcePersistentDisk: { pdName, readOnly } });
  const aws = (volumeID: string, readOnly = false) => ({ awsElasticBlockStore: { volumeID, readOnly } });
  const iscsi = (iqn: string, readOnly = false) => ({ iscsi: { iqn, readOnly } });
  const rbd = (monitors: string[], image: string, readOnly = false) => ({
    rbd: { monitors, image, pool: "rbd", readOnly },
  });
  const cases: readonly (readonly [JsonObject, JsonObject, boolean])[] = [
    [gce("a"), gce("a"), true],
    [gce("a"), gce("b"), false],
    [gce("a", true), gce("a", true), false],
    [gce("a", true), gce("a"), true],
    [aws("a", true), aws("a", true), true],
    [aws("a"), aws("b"), false],
    [iscsi("i"), iscsi("i"), true],
    [iscsi("i", true), iscsi("i", true), false],
    [rbd(["a", "b"], "i"), rbd(["b", "c"], "i"), true],
    [rbd(["a"], "i"), rbd(["b"], "i"), false],
    [rbd(["a"], "i"), rbd(["a"], "j"), false],
    [rbd(["a"], "i", true), rbd(["a"], "i", true), false],
    [gce("a"), aws("a"), false],
  ];
  for (const [existing, wanted, isRejected] of cases) {
    const world = new PluginWorld(volumeRestrictions, {}, node("a"), node("b"));
    world.place("a", using("other", existing));
    assert.deepEqual(world.check(using("p", wanted)), { a: isRejected ? DISK : undefined, b: undefined });
  }
});

test("VolumeRestrictions rejects Pods whose ReadWriteOncePod claim is in use", async () => {
  const world = new PluginWorld(volumeRestrictions, {}, node("a"), node("b"));
  const resources = { requests: { storage: "1Gi" } };
  for (const [name, mode] of [
    ["once", "ReadWriteOncePod"],
    ["many", "ReadWriteMany"],
  ] as const) {
    await world.kinds.create("persistentvolumeclaims", name, {
      content: { spec: { accessModes: [mode], resources, volumeMode: "Filesystem" } },
    });
  }
  await world.load();
  assert.equal(world.plugin.filter?.(podInfoOf(using("p", claim("once")))), undefined);
  world.place("a", using("other", claim("once"), claim("many")));
  assert.deepEqual(world.check(using("p", claim("once"))), { a: IN_USE, b: IN_USE });
  assert.equal(world.plugin.filter?.(podInfoOf(using("p", claim("many")))), undefined);
  assert.equal(world.check(using("p", claim("gone"))).a, 'persistentvolumeclaim "gone" not found');

  const filter = world.plugin.filter?.(podInfoOf(using("p", claim("once"))));
  const at = world.state.node("a");
  const [other] = at?.pods.values() ?? [];
  assert.ok(filter && at && other);
  const copy = filter.copy?.();
  copy?.removePod(other, at);
  assert.equal(copy?.check(at), undefined);
  assert.equal(filter.check(at)?.isUnresolvable, false);
  await world.stop();
});

test("VolumeRestrictions queues Pods after changes that matter", () => {
  const { events = [] } = new PluginWorld(volumeRestrictions).plugin;
  const hintOf = (resource: string) => events.find((event) => event.resource === resource)?.hint;
  const disk = { gcePersistentDisk: { pdName: "a" } };
  const waiting = using("p", disk, claim("once"));
  assert.equal(hintOf("AssignedPod")?.(waiting, using("other", disk), undefined), true);
  assert.equal(hintOf("AssignedPod")?.(waiting, using("other", claim("once")), undefined), true);
  assert.equal(hintOf("AssignedPod")?.(waiting, using("other", claim("many")), undefined), false);
  const added = { kind: "PersistentVolumeClaim", apiVersion: "v1", metadata: { namespace: "default", name: "once" } };
  assert.equal(hintOf("PersistentVolumeClaim")?.(waiting, undefined, added), true);
  assert.equal(hintOf("PersistentVolumeClaim")?.(using("p"), undefined, added), false);
});
