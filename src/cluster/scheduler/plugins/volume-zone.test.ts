import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { podInfoOf } from "../pod-info.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";
import { volumeZone } from "./volume-zone.ts";

const ZONE = "topology.kubernetes.io/zone";
const BETA = "failure-domain.beta.kubernetes.io/zone";
const OTHER = "node(s) had no available volume zone";
const resources = { requests: { storage: "1Gi" } };
const using = (claimName: string) => pod("p", { volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] });

suite("VolumeZone", () => {
  const nodes = [
    node("a", { labels: { [ZONE]: "1" } }),
    node("b", { labels: { [ZONE]: "2" } }),
    node("c", { labels: { [BETA]: "1" } }),
    node("d"),
  ];
  const world = new PluginWorld(volumeZone, {}, ...nodes);
  const { kinds } = world;
  const claim = (name: string, spec: KubeObject["spec"]) =>
    kinds.create("persistentvolumeclaims", name, {
      content: { spec: { accessModes: ["ReadWriteOnce"], resources, volumeMode: "Filesystem", ...(spec as object) } },
    });
  const volume = (name: string, labels: { [key: string]: string }) =>
    kinds.create("persistentvolumes", name, {
      content: {
        metadata: { name, labels },
        spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
      },
    });
  const storageClass = (name: string, volumeBindingMode: string) =>
    kinds.create("storageclasses", name, { content: { provisioner: "example.com/p", volumeBindingMode } });

  before(async () => {
    await volume("one", { [ZONE]: "1" });
    await volume("beta", { [BETA]: "1__2" });
    await volume("odd", { [ZONE]: "1____2" });
    for (const name of ["one", "beta", "odd", "gone"]) await claim(name, { volumeName: name });
    await storageClass("late", "WaitForFirstConsumer");
    await storageClass("soon", "Immediate");
    for (const name of ["late", "soon", "missing"]) await claim(name, { storageClassName: name });
    await claim("none", { storageClassName: "" });
    await world.load();
  });
  after(() => world.stop());

  test("rejects nodes in other zones", () => {
    assert.deepEqual(world.check(using("one")), { a: undefined, b: OTHER, c: OTHER, d: undefined });
  });

  test("accepts lists of zones and nodes with newer labels", () => {
    assert.deepEqual(world.check(using("beta")), { a: undefined, b: undefined, c: undefined, d: undefined });
  });

  test("ignores volumes without a valid label and claims that wait for a Pod", () => {
    for (const name of ["odd", "late"]) assert.equal(world.plugin.filter?.(podInfoOf(using(name))), undefined);
  });

  test("rejects Pods whose volume is not known", () => {
    const expected = {
      gone: 'persistentvolume "gone" not found',
      soon: "PersistentVolume had no name",
      missing: 'storageclass.storage.k8s.io "missing" not found',
      none: "PersistentVolumeClaim had no pv name and storageClass name",
      absent: 'persistentvolumeclaim "absent" not found',
    };
    for (const [name, reason] of Object.entries(expected)) assert.equal(world.check(using(name)).a, reason);
  });

  test("queues Pods after changes that matter", () => {
    const hintOf = (resource: string) => world.plugin.events?.find((event) => event.resource === resource)?.hint;
    const object = (kind: string, content: object): KubeObject => ({
      ...{ kind, apiVersion: "v1", metadata: { name: "one", namespace: "default" } },
      ...content,
    });
    const pv = (zone: string) => object("PersistentVolume", { metadata: { name: "one", labels: { [ZONE]: zone } } });
    assert.equal(hintOf("PersistentVolume")?.(using("one"), pv("1"), pv("2")), true);
    assert.equal(hintOf("PersistentVolume")?.(using("one"), pv("1"), pv("1")), false);
    const added = object("PersistentVolumeClaim", {});
    assert.equal(hintOf("PersistentVolumeClaim")?.(using("one"), undefined, added), true);
    assert.equal(hintOf("PersistentVolumeClaim")?.(using("beta"), undefined, added), false);
    const late = object("StorageClass", { volumeBindingMode: "WaitForFirstConsumer" });
    assert.equal(hintOf("StorageClass")?.(using("one"), undefined, late), true);
    const soon = object("StorageClass", { volumeBindingMode: "Immediate" });
    assert.equal(hintOf("StorageClass")?.(using("one"), undefined, soon), false);
  });
});
