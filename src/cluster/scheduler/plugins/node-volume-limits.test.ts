import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { podInfoOf } from "../pod-info.ts";
import { nodeVolumeLimits } from "./node-volume-limits.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";

const TOO_MANY = "node(s) exceed max volume count";
const DRIVER = "disk.example.com";
const resources = { requests: { storage: "1Gi" } };
const using = (name: string, ...volumes: JsonObject[]) =>
  pod(name, { volumes: volumes.map((volume, index) => ({ name: `v${index}`, ...volume })) });
const claim = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

suite("NodeVolumeLimits", () => {
  const world = new PluginWorld(nodeVolumeLimits, {}, node("limited"), node("free"), node("plain"));
  const { kinds } = world;
  const addClaim = (name: string, spec: JsonObject) =>
    kinds.create("persistentvolumeclaims", name, {
      content: { spec: { accessModes: ["ReadWriteOnce"], resources, volumeMode: "Filesystem", ...spec } },
    });
  const addVolume = (name: string) =>
    kinds.create("persistentvolumes", name, {
      content: {
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          csi: { driver: DRIVER, volumeHandle: name },
        },
      },
    });
  const addCsiNode = (name: string, drivers: JsonObject[]) =>
    kinds.create("csinodes", name, { content: { spec: { drivers } } });

  before(async () => {
    const driver = { name: DRIVER, nodeID: "n" };
    await addCsiNode("limited", [
      { ...driver, allocatable: { count: 2 } },
      { name: "ebs.csi.aws.com", nodeID: "n", allocatable: { count: 1 } },
    ]);
    await addCsiNode("free", [driver]);
    for (const name of ["one", "two", "three"]) {
      await addVolume(name);
      await addClaim(name, { volumeName: name });
    }
    await kinds.create("storageclasses", "late", {
      content: { provisioner: DRIVER, volumeBindingMode: "WaitForFirstConsumer" },
    });
    await addClaim("pending", { storageClassName: "late" });
    await kinds.create("csidrivers", "must.example.com", {
      content: { spec: { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Persistent"] } },
    });
    await kinds.create("storageclasses", "must", { content: { provisioner: "must.example.com" } });
    await addClaim("must", { storageClassName: "must" });
    await world.load();
    world.place("limited", using("a", claim("one")));
    world.place("free", using("b", claim("one"), claim("two")));
  });
  after(() => world.stop());

  test("rejects nodes that cannot attach further volumes", () => {
    assert.deepEqual(world.check(using("p", claim("two"))), { limited: undefined, free: undefined, plain: undefined });
    const both = using("p", claim("two"), claim("three"));
    assert.deepEqual(world.check(both), { limited: TOO_MANY, free: undefined, plain: undefined });
    assert.equal(world.check(using("p", claim("one"), claim("two"))).limited, undefined, "a volume in use");
    assert.equal(world.check(using("p", claim("pending"), claim("two"))).limited, TOO_MANY, "a volume to provision");
  });

  test("counts volumes of former in-tree plugins on nodes with a CSINode", () => {
    const disk = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } });
    const checked = world.check(using("p", disk("a"), disk("b")));
    assert.deepEqual(checked, { limited: TOO_MANY, free: undefined, plain: undefined });
    assert.equal(world.check(using("p", disk("a"), disk("a"))).limited, undefined);
  });

  test("counts attached volumes that no Pod uses", async () => {
    await kinds.create("volumeattachments", "left", {
      content: { spec: { attacher: DRIVER, nodeName: "limited", source: { persistentVolumeName: "three" } } },
    });
    await world.load();
    assert.equal(world.check(using("p", claim("two"))).limited, TOO_MANY);
  });

  test("rejects nodes without a driver that must be there", () => {
    const reason = "must.example.com CSI driver is not installed on the node";
    assert.deepEqual(world.check(using("p", claim("must"))), { limited: reason, free: reason, plain: reason });
  });

  test("rejects Pods whose claim is missing and ignores Pods without volumes", () => {
    const reason = 'looking up PVC default/gone: persistentvolumeclaim "gone" not found';
    assert.equal(world.check(using("p", claim("gone"))).free, reason);
    assert.equal(world.plugin.filter?.(podInfoOf(using("p", { emptyDir: {} }))), undefined);
  });

  test("queues Pods after changes that matter", () => {
    const hintsOf = (resource: string) => world.plugin.events?.filter((event) => event.resource === resource) ?? [];
    const csiNode = (count: number): KubeObject => ({
      ...{ kind: "CSINode", apiVersion: "storage.k8s.io/v1", metadata: { name: "limited" } },
      spec: { drivers: [{ name: DRIVER, nodeID: "n", allocatable: { count } }] },
    });
    const update = hintsOf("CSINode").find(({ actions }) => actions.includes("Update"))?.hint;
    assert.equal(update?.(using("p"), csiNode(1), csiNode(2)), true);
    assert.equal(update?.(using("p"), csiNode(2), csiNode(1)), false);
    const [deleted] = hintsOf("AssignedPod");
    const placed = (volume: JsonObject) => pod("other", { nodeName: "limited", volumes: [{ name: "v", ...volume }] });
    assert.equal(deleted?.hint?.(using("p"), placed(claim("one")), undefined), true);
    assert.equal(deleted?.hint?.(using("p"), placed({ emptyDir: {} }), undefined), false);
    const [detached] = hintsOf("VolumeAttachment");
    const attachment = {
      kind: "VolumeAttachment",
      apiVersion: "v1",
      metadata: {},
      spec: { attacher: "ebs.csi.aws.com" },
    };
    assert.equal(detached?.hint?.(using("p", claim("one")), attachment, undefined), true);
    const inline = using("p", { awsElasticBlockStore: { volumeID: "x" } });
    assert.equal(detached?.hint?.(inline, attachment, undefined), true);
    assert.equal(detached?.hint?.(using("p", { gcePersistentDisk: { pdName: "x" } }), attachment, undefined), false);
  });
});
