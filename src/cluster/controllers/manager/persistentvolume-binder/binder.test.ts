import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { until } from "../../shared/controllers.suite.ts";
import { claimSpec, VolumeCluster, volumeSpec } from "../volumes.suite.ts";
import { volumeBinder } from "./binder.ts";

const CLAIMS = "persistentvolumeclaims";
const VOLUMES = "persistentvolumes";
const NO_VOLUME = "Normal FailedBinding: no persistent volumes available for this claim and no storage class is set";

suite("persistentvolume-binder-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(volumeBinder(cluster));
  });
  afterEach(() => cluster.end());

  const addVolume = async (name: string, spec?: JsonObject, metadata?: JsonObject) => {
    await cluster.addVolume(name, spec, metadata);
    await cluster.hasVolume(name, "Available");
  };
  /** Binds both, and deletes the claim. */
  const release = async (spec: JsonObject) => {
    await addVolume("disk", volumeSpec("1Gi", spec));
    await cluster.addClaim("data");
    await cluster.hasClaim("data", "Bound");
    await cluster.remove(CLAIMS, "data");
  };

  test("binds a claim to an available volume", async () => {
    await addVolume("disk", volumeSpec("2Gi"));
    const created = await cluster.addClaim("data");
    const claim = await cluster.hasClaim("data", "Bound");
    assert.equal(claim.spec.volumeName, "disk");
    assert.deepEqual(claim.status, { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } });
    assert.deepEqual(claim.metadata.annotations, {
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
    });
    const volume = await cluster.hasVolume("disk", "Bound");
    const { uid, resourceVersion } = created.metadata;
    const reference = { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace: "default", name: "data" };
    assert.deepEqual(volume.spec.claimRef, { ...reference, uid, resourceVersion });
    assert.deepEqual(volume.metadata.annotations, { "pv.kubernetes.io/bound-by-controller": "yes" });
  });

  test("binds a claim as soon as a volume for it appears", async () => {
    await cluster.addClaim("data");
    await cluster.hasNews("data", NO_VOLUME);
    await cluster.addVolume("small", volumeSpec("512Mi"));
    await cluster.hasVolume("small", "Available");
    await cluster.addVolume("disk");
    assert.equal((await cluster.hasClaim("data", "Bound")).spec.volumeName, "disk");
  });

  test("gives each of many claims its own volume", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await Promise.all(names.map((name) => cluster.addClaim(name)));
    await Promise.all(names.map((name) => cluster.addVolume(name)));
    const bound = await Promise.all(names.map((name) => cluster.hasClaim(name, "Bound")));
    assert.equal(new Set(bound.map(({ spec }) => spec.volumeName)).size, names.length);
  });

  const modes = (...accessModes: string[]) => ({ accessModes });
  for (const { title, volumes, claim, wanted } of [
    {
      title: "the smallest volume that is large enough",
      volumes: [volumeSpec("3Gi"), volumeSpec("2Gi"), volumeSpec("512Mi")],
      claim: claimSpec("1Gi"),
      wanted: "v1",
    },
    {
      title: "the volume with the fewest access modes",
      volumes: [volumeSpec("1Gi", modes("ReadWriteOnce", "ReadOnlyMany")), volumeSpec("2Gi")],
      claim: claimSpec("1Gi"),
      wanted: "v1",
    },
    {
      title: "a volume with all access modes",
      volumes: [volumeSpec("1Gi"), volumeSpec("2Gi", modes("ReadOnlyMany", "ReadWriteOnce"))],
      claim: claimSpec("1Gi", modes("ReadOnlyMany")),
      wanted: "v1",
    },
    {
      title: "a volume of its class",
      volumes: [volumeSpec("1Gi"), volumeSpec("2Gi", { storageClassName: "fast" })],
      claim: claimSpec("1Gi", { storageClassName: "fast" }),
      wanted: "v1",
    },
    {
      title: "a volume of its mode",
      volumes: [volumeSpec("1Gi"), volumeSpec("2Gi", { volumeMode: "Block" })],
      claim: claimSpec("1Gi", { volumeMode: "Block" }),
      wanted: "v1",
    },
    {
      title: "a volume that its selector matches",
      volumes: [volumeSpec("1Gi"), volumeSpec("2Gi")],
      claim: claimSpec("1Gi", { selector: { matchLabels: { name: "v1" } } }),
      wanted: "v1",
    },
    {
      title: "the volume that is reserved for it, whatever its class",
      volumes: [
        volumeSpec("1Gi"),
        volumeSpec("9Gi", { storageClassName: "x", claimRef: { name: "data", namespace: "default" } }),
      ],
      claim: claimSpec("1Gi"),
      wanted: "v1",
    },
    {
      title: "the volume that it names",
      volumes: [volumeSpec("1Gi"), volumeSpec("9Gi")],
      claim: claimSpec("1Gi", { volumeName: "v1" }),
      wanted: "v1",
    },
  ]) {
    test(`chooses ${title}`, async () => {
      for (const [index, spec] of volumes.entries()) {
        await addVolume(`v${index}`, spec, { labels: { name: `v${index}` } });
      }
      await cluster.addClaim("data", claim);
      assert.equal((await cluster.hasClaim("data", "Bound")).spec.volumeName, wanted);
    });
  }

  test("leaves the annotation of the controller off the side that the user chose", async () => {
    await addVolume("disk", volumeSpec("1Gi", { claimRef: { name: "data", namespace: "default" } }));
    await cluster.addClaim("data", claimSpec("1Gi", { volumeName: "disk" }));
    const claim = await cluster.hasClaim("data", "Bound");
    assert.deepEqual(claim.metadata.annotations, { "pv.kubernetes.io/bind-completed": "yes" });
    assert.equal((await cluster.hasVolume("disk", "Bound")).metadata.annotations, undefined);
  });

  for (const { problem, spec } of [
    { problem: "requested PV is too small", spec: claimSpec("9Gi") },
    { problem: "storageClassName does not match", spec: claimSpec("1Gi", { storageClassName: "x" }) },
    { problem: "incompatible volumeMode", spec: claimSpec("1Gi", { volumeMode: "Block" }) },
    { problem: "incompatible accessMode", spec: claimSpec("1Gi", modes("ReadWriteMany")) },
    {
      problem: "volumeAttributesClassName does not match",
      spec: claimSpec("1Gi", { volumeAttributesClassName: "gold" }),
    },
  ]) {
    test(`rejects the volume that a claim names: ${problem}`, async () => {
      await addVolume("disk");
      await cluster.addClaim("data", { ...spec, volumeName: "disk" });
      await cluster.hasNews("data", `Warning VolumeMismatch: Cannot bind to requested volume "disk": ${problem}`);
      assert.equal((await cluster.claim("data"))?.status?.phase, "Pending");
    });
  }

  test("waits for a named volume that another claim has", async () => {
    await addVolume("disk");
    await cluster.addClaim("first");
    await cluster.hasClaim("first", "Bound");
    await cluster.addClaim("second", claimSpec("1Gi", { volumeName: "disk" }));
    await cluster.hasNews("second", 'Warning FailedBinding: volume "disk" already bound to a different claim.');
  });

  test("sets the phase Lost of a claim whose volume is gone", async () => {
    await addVolume("disk");
    await cluster.addClaim("data");
    await cluster.hasClaim("data", "Bound");
    await cluster.remove(VOLUMES, "disk");
    const claim = await cluster.hasClaim("data", "Lost");
    assert.deepEqual(claim.status, { phase: "Lost" });
    await cluster.hasNews(
      "data",
      "Warning ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    );
  });

  test("binds a volume again whose reference to its claim was removed", async () => {
    await addVolume("disk");
    await cluster.addClaim("data");
    await cluster.hasClaim("data", "Bound");
    await cluster.merge(VOLUMES, "disk", { spec: { claimRef: null } });
    const { uid } = (await cluster.claim("data"))?.metadata ?? {};
    await until(async () => (await cluster.volume("disk"))?.spec.claimRef?.uid === uid);
    await cluster.hasVolume("disk", "Bound");
  });

  test("releases a volume and keeps it with the policy Retain", async () => {
    await release({ persistentVolumeReclaimPolicy: "Retain" });
    const { spec } = await cluster.hasVolume("disk", "Released");
    assert.equal(spec.claimRef?.name, "data");
    await cluster.addClaim("data");
    await cluster.hasNews("data", NO_VOLUME);
    await cluster.merge(VOLUMES, "disk", { spec: { claimRef: null } });
    assert.equal((await cluster.hasClaim("data", "Bound")).spec.volumeName, "disk");
  });

  test("leaves the deletion of volumes of CSI drivers to them", async () => {
    await release({ persistentVolumeReclaimPolicy: "Delete" });
    await cluster.hasVolume("disk", "Released");
    assert.deepEqual(await cluster.news("disk"), []);
  });

  for (const { policy, source, event } of [
    {
      policy: "Delete",
      source: { nfs: { server: "example.com", path: "/" } },
      event:
        'VolumeFailedDelete: error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
    },
    {
      policy: "Delete",
      source: { iscsi: { targetPortal: "10.0.0.1:3260", iqn: "iqn.2026-01.com.example:x", lun: 0 } },
      event: 'VolumeFailedDelete: error getting deleter volume plugin for volume "disk": no volume plugin matched',
    },
    {
      policy: "Delete",
      source: { hostPath: { path: "/var/x" } },
      event: "VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /var/x",
    },
    {
      policy: "Recycle",
      source: { iscsi: { targetPortal: "10.0.0.1:3260", iqn: "iqn.2026-01.com.example:x", lun: 0 } },
      event: "VolumeFailedRecycle: No recycler plugin found for the volume!",
    },
  ]) {
    const [kind = ""] = Object.keys(source);
    test(`fails to apply the policy ${policy} to a volume of ${kind}`, async () => {
      await release({ csi: undefined, persistentVolumeReclaimPolicy: policy, ...source });
      const { status } = await cluster.hasVolume("disk", "Failed");
      await cluster.hasNews("disk", `Warning ${event}`);
      assert.equal(status?.message, event.slice(event.indexOf(": ") + 2));
    });
  }

  test("deletes a volume below /tmp with the policy Delete", async () => {
    await release({ persistentVolumeReclaimPolicy: "Delete", hostPath: { path: "/tmp/x" } });
    await cluster.isGone(VOLUMES, "disk");
  });

  test("recycles a volume once no Pod uses it", async () => {
    await addVolume("disk", volumeSpec("1Gi", { persistentVolumeReclaimPolicy: "Recycle", hostPath: { path: "/x" } }));
    await cluster.addClaim("data");
    await cluster.hasClaim("data", "Bound");
    await cluster.addPod("web", "data");
    await cluster.remove(CLAIMS, "data");
    await cluster.hasNews("disk", "Normal VolumeFailedRecycle: Volume is used by pods: default/web");
    await cluster.delete("pods", "web", { gracePeriodSeconds: 0 });
    await cluster.clock.advance(15_000);
    const { spec } = await cluster.hasVolume("disk", "Available");
    assert.equal(spec.claimRef, undefined);
    await cluster.hasNews("disk", "Normal VolumeRecycled: Volume recycled");
  });

  test("assigns the default class to a claim without one", async () => {
    await cluster.addClaim("data");
    await cluster.addClaim("none", claimSpec("1Gi", { storageClassName: "" }));
    await cluster.hasNews("data", NO_VOLUME);
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    await cluster.addClass("fast", "example.com/disks", {}, { annotations });
    await cluster.hasNews("data", EXTERNAL);
    assert.equal((await cluster.claim("data"))?.spec.storageClassName, "fast");
    assert.equal((await cluster.claim("none"))?.spec.storageClassName, "");
  });

  test("waits for external provisioners, and binds the volume that one creates", async () => {
    await cluster.addClass("fast", "example.com/disks");
    const { metadata } = await cluster.addClaim("data", claimSpec("1Gi", { storageClassName: "fast" }));
    await cluster.hasNews("data", EXTERNAL);
    const annotations = (await cluster.claim("data"))?.metadata.annotations;
    assert.equal(annotations?.["volume.kubernetes.io/storage-provisioner"], "example.com/disks");
    assert.equal(annotations?.["volume.beta.kubernetes.io/storage-provisioner"], "example.com/disks");
    const claimRef = { name: "data", namespace: "default", uid: metadata.uid ?? "" };
    await cluster.addVolume("made", volumeSpec("1Gi", { storageClassName: "fast", claimRef }));
    assert.equal((await cluster.hasClaim("data", "Bound")).spec.volumeName, "made");
  });

  for (const { provisioner, message } of [
    {
      provisioner: "kubernetes.io/no-provisioner",
      message: "no volume plugin matched name: kubernetes.io/no-provisioner",
    },
    { provisioner: "kubernetes.io/nfs", message: "no provisionable volume plugin matched" },
    {
      provisioner: "kubernetes.io/host-path",
      message: 'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
    },
  ]) {
    test(`records why ${provisioner} provisions no volume`, async () => {
      await cluster.addClass("fast", provisioner);
      await cluster.addClaim("data", claimSpec("1Gi", { storageClassName: "fast" }));
      await cluster.hasNews("data", `Warning ProvisioningFailed: ${message}`);
    });
  }

  test("records that the class does not exist, and provisions once it does", async () => {
    await cluster.addClaim("data", claimSpec("1Gi", { storageClassName: "fast" }));
    await cluster.hasNews("data", 'Warning ProvisioningFailed: storageclass.storage.k8s.io "fast" not found');
    await cluster.addClass("fast", "example.com/disks");
    await cluster.hasNews("data", EXTERNAL);
  });

  test("replaces in-tree provisioners by their CSI drivers", async () => {
    await cluster.addClass("fast", "kubernetes.io/aws-ebs");
    await cluster.addClaim("data", claimSpec("1Gi", { storageClassName: "fast" }));
    await cluster.hasNews("data", EXTERNAL.replace("example.com/disks", "ebs.csi.aws.com"));
  });

  test("waits for the scheduler with WaitForFirstConsumer", async () => {
    await cluster.addClass("late", "example.com/disks", { volumeBindingMode: "WaitForFirstConsumer" });
    await addVolume("disk", volumeSpec("1Gi", { storageClassName: "late" }));
    await cluster.addClaim("data", claimSpec("1Gi", { storageClassName: "late" }));
    await cluster.hasNews(
      "data",
      "Normal WaitForFirstConsumer: waiting for first consumer to be created before binding",
    );
    await cluster.addPod("web", "data");
    await cluster.clock.advance(15_000);
    await cluster.hasNews("data", "Normal WaitForPodScheduled: waiting for pod web to be scheduled");
    await cluster.merge(CLAIMS, "data", { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n" } } });
    await cluster.hasNews("data", EXTERNAL);
    await cluster.merge(VOLUMES, "disk", { spec: { claimRef: { name: "data", namespace: "default" } } });
    await cluster.hasClaim("data", "Bound");
  });

  test("provisions and deletes volumes of a simulated class", async () => {
    await cluster.addClass("simulated", "simulated.binnacle.dev", { mountOptions: ["ro"] });
    const { metadata } = await cluster.addClaim("data", claimSpec("3Gi", { storageClassName: "simulated" }));
    const name = `pvc-${metadata.uid}`;
    assert.equal((await cluster.hasClaim("data", "Bound")).spec.volumeName, name);
    const line = `Normal ProvisioningSucceeded: Successfully provisioned volume ${name} using simulated.binnacle.dev`;
    await cluster.hasNews("data", line);
    const volume = await cluster.hasVolume(name, "Bound");
    assert.deepEqual(volume.spec.capacity, { storage: "3Gi" });
    assert.deepEqual(volume.spec.mountOptions, ["ro"]);
    assert.equal(volume.spec.persistentVolumeReclaimPolicy, "Delete");
    await cluster.remove(CLAIMS, "data");
    await cluster.isGone(VOLUMES, name);
  });
});

const EXTERNAL =
  "Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
