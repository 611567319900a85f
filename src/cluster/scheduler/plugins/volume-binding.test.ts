import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { volumeBinder } from "../../controllers/manager/persistentvolume-binder/binder.ts";
import { SIMULATED } from "../../controllers/shared/simulated-storage.ts";
import { ScheduledCluster } from "../scheduler.suite.ts";

const LATE = "WaitForFirstConsumer";
const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** A cluster with two nodes, the scheduler, and the controller that binds volumes. */
class StorageCluster extends ScheduledCluster {
  constructor() {
    super();
    this.start(volumeBinder(this));
  }

  static async create(): Promise<StorageCluster> {
    const cluster = new StorageCluster();
    await cluster.addNode("a", { labels: { zone: "1" } });
    await cluster.addNode("b", { labels: { zone: "2" } });
    return cluster;
  }

  async addClass(name: string, content: JsonObject): Promise<void> {
    await this.create("storageclasses", name, { content });
  }

  async addClaim(name: string, storageClassName: string, storage = "1Gi", more: JsonObject = {}): Promise<void> {
    const spec = {
      ...{ accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", storageClassName },
      resources: { requests: { storage } },
      ...more,
    };
    await this.create("persistentvolumeclaims", name, { content: { spec } });
  }

  /** A local volume on a node. */
  async addVolume(name: string, node: string, storage = "1Gi", more: JsonObject = {}): Promise<void> {
    const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }];
    const spec = {
      ...{ accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", storageClassName: "local" },
      ...{ capacity: { storage }, persistentVolumeReclaimPolicy: "Retain", local: { path: "/disk" } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      ...more,
    };
    await this.create("persistentvolumes", name, { content: { spec } });
  }

  async addUser(name: string, ...claims: readonly string[]): Promise<void> {
    const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    await this.addPod(name, { volumes });
  }

  async claim(name: string): Promise<PersistentVolumeClaim> {
    const claim = await this.find("persistentvolumeclaims", name);
    assert.ok(claim, name);
    return claim as PersistentVolumeClaim;
  }
}

const local = { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: LATE };

suite("VolumeBinding", () => {
  test("binds the smallest local volume of a node", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("local", local);
    await cluster.addVolume("large", "b", "5Gi");
    await cluster.addVolume("small", "b", "2Gi");
    await cluster.addVolume("tiny", "a", "1Mi");
    await cluster.wait();
    await cluster.addClaim("data", "local");
    await cluster.addUser("web", "data");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("web"), "b");
    assert.equal((await cluster.claim("data")).spec.volumeName, "small");
    const volume = (await cluster.find("persistentvolumes", "small")) as PersistentVolume;
    assert.equal(volume.spec.claimRef?.name, "data");
    await cluster.end();
  });

  test("gives two claims of a Pod different volumes of one node", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("local", local);
    await cluster.addVolume("a1", "a");
    await cluster.addVolume("b1", "b");
    await cluster.addVolume("b2", "b", "2Gi");
    await cluster.wait();
    await cluster.addClaim("one", "local");
    await cluster.addClaim("two", "local");
    await cluster.addUser("web", "one", "two");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("web"), "b");
    const names = [(await cluster.claim("one")).spec.volumeName, (await cluster.claim("two")).spec.volumeName];
    assert.deepEqual(names.sort(), ["b1", "b2"]);
    await cluster.end();
  });

  test("reports nodes without volumes, and schedules the Pod when one appears", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("local", local);
    await cluster.addClaim("data", "local");
    await cluster.addUser("web", "data");
    await cluster.wait();
    assert.match(
      (await cluster.outcome("web")) ?? "",
      /^0\/2 nodes are available: 2 node\(s\) didn't find available persistent volumes to bind\./,
    );
    await cluster.addVolume("disk", "a");
    await cluster.wait(20);
    assert.equal(await cluster.outcome("web"), "a");
    await cluster.end();
  });

  test("selects a node for which a volume is provisioned", async () => {
    const cluster = await StorageCluster.create();
    const allowedTopologies = [{ matchLabelExpressions: [{ key: "zone", values: ["2"] }] }];
    await cluster.addClass("fast", { provisioner: SIMULATED, volumeBindingMode: LATE, allowedTopologies });
    await cluster.addClaim("data", "fast");
    await cluster.addUser("web", "data");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("web"), "b");
    const claim = await cluster.claim("data");
    assert.equal(claim.metadata.annotations?.[SELECTED_NODE], "b");
    assert.equal(claim.status?.phase, "Bound");
    await cluster.addUser("second", "data");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("second"), "b", "the volume is bound to a zone");
    await cluster.end();
  });

  test("gives up a node for which no volume is provisioned in time", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("external", { provisioner: "example.com/none", volumeBindingMode: LATE });
    await cluster.addClaim("data", "external");
    await cluster.addUser("web", "data");
    await cluster.wait(2);
    assert.equal((await cluster.pod("web")).spec?.nodeName, undefined);
    assert.ok((await cluster.claim("data")).metadata.annotations?.[SELECTED_NODE]);
    await cluster.wait(601);
    const reasons = (await cluster.events("web")).map(({ message }) => message);
    assert.ok(
      reasons.includes('running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'),
      reasons.join("\n"),
    );
    await cluster.end();
  });

  test("gives up a node if the provisioner removes the selected node", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("external", { provisioner: "example.com/none", volumeBindingMode: LATE });
    await cluster.addClaim("data", "external");
    await cluster.addUser("web", "data");
    await cluster.wait(2);
    await cluster.change("persistentvolumeclaims", "data", ({ metadata }: KubeObject) => {
      metadata.annotations = { other: "" };
    });
    await cluster.wait(1);
    const reasons = (await cluster.events("web")).map(({ message }) => message);
    const reason = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"';
    assert.ok(reasons.includes(reason), reasons.join("\n"));
    await cluster.end();
  });

  test("looks for free storage if the driver publishes its capacity", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("fast", { provisioner: SIMULATED, volumeBindingMode: LATE });
    await cluster.create("csidrivers", SIMULATED, {
      content: { spec: { storageCapacity: true, volumeLifecycleModes: ["Persistent"] } },
    });
    const publish = (name: string, zone: string, capacity: string) =>
      cluster.create("csistoragecapacities", name, {
        content: { storageClassName: "fast", capacity, nodeTopology: { matchLabels: { zone } } },
      });
    await publish("one", "1", "512Mi");
    await cluster.addClaim("data", "fast");
    await cluster.addUser("web", "data");
    await cluster.wait();
    assert.match((await cluster.outcome("web")) ?? "", /: 2 node\(s\) did not have enough free storage\./);
    await publish("two", "2", "2Gi");
    await cluster.wait(20);
    assert.equal(await cluster.outcome("web"), "b");
    await cluster.end();
  });

  test("reports claims that cannot be used", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("soon", { provisioner: "example.com/none", volumeBindingMode: "Immediate" });
    await cluster.addClaim("unbound", "soon");
    await cluster.addUser("web", "unbound");
    await cluster.addPod("inline", {
      volumes: [
        {
          name: "v",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          },
        },
      ],
    });
    await cluster.addUser("lost", "absent");
    await cluster.wait();
    const expected = {
      web: "pod has unbound immediate PersistentVolumeClaims.",
      inline: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "inline-v".',
      lost: 'persistentvolumeclaim "absent" not found.',
    };
    for (const [name, reason] of Object.entries(expected)) {
      const outcome = (await cluster.outcome(name)) ?? "";
      assert.equal(outcome, `0/2 nodes are available: ${reason} not found`);
    }
    await cluster.end();
  });

  test("prefers nodes with more free storage", async () => {
    const cluster = await StorageCluster.create();
    await cluster.addClass("local", local);
    await cluster.addVolume("small", "a", "1Gi");
    await cluster.addVolume("large", "b", "10Gi");
    await cluster.wait();
    await cluster.addClaim("data", "local");
    await cluster.addUser("web", "data");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("web"), "b");
    await cluster.end();
  });
});
