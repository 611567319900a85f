import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { namespace, World, type Write } from "../admission.suite.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-class.ts";
import { podGroupProtection, storageObjectInUseProtection } from "./in-use-protection.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";

function thing(kind: string, content: object = {}, metadata: object = {}): KubeObject {
  return { kind, apiVersion: "v1", ...content, metadata: { name: "x", namespace: "ns", ...metadata } };
}

suite("NamespaceLifecycle", () => {
  const ending = "unable to create new content in namespace old because it is being terminated";
  const review = { group: "authorization.k8s.io", plural: "localsubjectaccessreviews" };
  const cases: readonly [title: string, write: Write, text: string | undefined][] = [
    ["allows a create", { plural: "configmaps", object: thing("ConfigMap") }, undefined],
    [
      "rejects a create in a namespace that does not exist",
      { plural: "configmaps", object: thing("ConfigMap", {}, { namespace: "nix" }) },
      'namespaces "nix" not found',
    ],
    [
      "allows an access review in a namespace that does not exist",
      { ...review, object: thing("X", {}, { namespace: "nix" }) },
      undefined,
    ],
    [
      "rejects a create in a terminating namespace",
      { plural: "configmaps", object: thing("ConfigMap", {}, { namespace: "old" }) },
      `configmaps "x" is forbidden: ${ending}`,
    ],
    [
      "rejects a create with generateName in a terminating namespace",
      {
        plural: "configmaps",
        object: thing("ConfigMap", {}, { name: undefined, generateName: "g-", namespace: "old" }),
      },
      `configmaps "g-" is forbidden: ${ending}`,
    ],
    [
      "allows an update in a terminating namespace",
      { plural: "configmaps", object: thing("ConfigMap", {}, { namespace: "old" }), previous: thing("ConfigMap") },
      undefined,
    ],
    ["allows the creation of a namespace", { plural: "namespaces", object: namespace("new") }, undefined],
    [
      "rejects the deletion of a system namespace",
      { plural: "namespaces", operation: "DELETE", previous: namespace("kube-public") },
      'namespaces "kube-public" is forbidden: this namespace may not be deleted',
    ],
    [
      "allows the deletion of another namespace",
      { plural: "namespaces", operation: "DELETE", previous: namespace("kube-node-lease") },
      undefined,
    ],
  ];
  for (const [title, write, text] of cases) {
    test(title, async () => {
      const world = new World();
      await world.given("namespaces", namespace("ns"));
      const old = namespace("old");
      await world.given("namespaces", {
        ...old,
        metadata: { ...old.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      });
      const { refusal, error } = await world.judge(namespaceLifecycle(world.access), write);
      assert.equal(refusal, text);
      if (!text?.includes(ending)) return;
      assert.deepEqual(error?.status.details?.causes, [
        { reason: "NamespaceTerminating", message: "namespace old is being terminated", field: "metadata.namespace" },
      ]);
    });
  }
});

suite("default classes", () => {
  const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
  const kind = (name: string, creationTimestamp: string, annotations: object) =>
    thing("StorageClass", {}, { name, namespace: undefined, creationTimestamp, annotations });
  async function judge(claim: KubeObject) {
    const world = new World();
    for (const one of [
      kind("older", "2026-01-01T00:00:00Z", { [IS_DEFAULT]: "true" }),
      kind("newer-b", "2026-01-02T00:00:00Z", { "storageclass.beta.kubernetes.io/is-default-class": "true" }),
      kind("newer-a", "2026-01-02T00:00:00Z", { [IS_DEFAULT]: "true" }),
      kind("newest", "2026-01-03T00:00:00Z", { [IS_DEFAULT]: "yes" }),
    ]) {
      await world.given("storageclasses", one, "storage.k8s.io");
    }
    const write = { plural: "persistentvolumeclaims", object: claim };
    return (await world.judge(defaultStorageClass(world.access), write)).object?.spec;
  }

  test("uses the newest one, then the first by name", async () => {
    assert.deepEqual(await judge(thing("PersistentVolumeClaim", { spec: {} })), { storageClassName: "newer-a" });
  });
  test("keeps an explicit choice, also the choice of no class, and also in an annotation", async () => {
    for (const storageClassName of ["", "other"]) {
      const claim = thing("PersistentVolumeClaim", { spec: { storageClassName } });
      assert.deepEqual(await judge(claim), { storageClassName });
    }
    const annotations = { "volume.beta.kubernetes.io/storage-class": "" };
    assert.deepEqual(await judge(thing("PersistentVolumeClaim", { spec: {} }, { annotations })), {});
  });
  test("does the same for ingresses", async () => {
    const world = new World();
    const annotations = { "ingressclass.kubernetes.io/is-default-class": "true" };
    const one = thing("IngressClass", {}, { name: "c", namespace: undefined, annotations });
    await world.given("ingressclasses", one, "networking.k8s.io");
    const ingress = async (object: KubeObject) => {
      const write = { group: "networking.k8s.io", plural: "ingresses", object };
      return (await world.judge(defaultIngressClass(world.access), write)).object?.spec;
    };
    assert.deepEqual(await ingress(thing("Ingress", { spec: {} })), { ingressClassName: "c" });
    const old = { annotations: { "kubernetes.io/ingress.class": "x" } };
    assert.deepEqual(await ingress(thing("Ingress", { spec: {} }, old)), {});
  });
});

suite("protection", () => {
  const cases: readonly [group: string, plural: string, finalizer: string][] = [
    ["", "persistentvolumeclaims", "kubernetes.io/pvc-protection"],
    ["", "persistentvolumes", "kubernetes.io/pv-protection"],
    ["storage.k8s.io", "volumeattributesclasses", "kubernetes.io/vac-protection"],
    ["scheduling.k8s.io", "podgroups", "scheduling.k8s.io/podgroup-protection"],
  ];
  for (const [group, plural, finalizer] of cases) {
    test(`new ${plural} get the finalizer ${finalizer} once`, async () => {
      const world = new World();
      const plugins = [storageObjectInUseProtection, podGroupProtection];
      const judge = async (metadata: object) =>
        (await world.judge(plugins, { group, plural, object: thing("X", {}, metadata) })).object?.metadata.finalizers;
      assert.deepEqual(await judge({}), [finalizer]);
      assert.deepEqual(await judge({ finalizers: ["a/b"] }), ["a/b", finalizer]);
      assert.deepEqual(await judge({ finalizers: [finalizer] }), [finalizer]);
      const update = { group, plural, object: thing("X"), previous: thing("X") };
      assert.equal((await world.judge(plugins, update)).object?.metadata.finalizers, undefined);
    });
  }
});
