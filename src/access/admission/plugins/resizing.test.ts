import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { pod, World } from "../admission.suite.ts";
import { nodeDeclaredFeatureValidator } from "./node-declared-feature-validator.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize.ts";
import { podResizeValidator } from "./pod-resize-validator.ts";

suite("PersistentVolumeClaimResize", () => {
  const claim = (storage: string, phase: string, className = "grow"): KubeObject => ({
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: { name: "c", namespace: "ns" },
    spec: { storageClassName: className, resources: { requests: { storage } } },
    status: { phase },
  });
  const unsupported =
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
  const cases: readonly [next: KubeObject, previous: KubeObject, text: string | undefined][] = [
    [claim("2Gi", "Bound"), claim("1Gi", "Bound"), undefined],
    [claim("1Gi", "Pending"), claim("1024Mi", "Pending"), undefined],
    [claim("1Gi", "Bound", "fixed"), claim("2Gi", "Bound", "fixed"), undefined],
    [claim("2Gi", "Pending"), claim("1Gi", "Pending"), "Only bound persistent volume claims can be expanded"],
    [claim("2Gi", "Bound", "fixed"), claim("1Gi", "Bound", "fixed"), unsupported],
    [claim("2Gi", "Bound", "missing"), claim("1Gi", "Bound", "missing"), unsupported],
    [claim("2Gi", "Bound", ""), claim("1Gi", "Bound", ""), unsupported],
    [claim("2Gi", "Bound"), claim("1Gi", "Bound", "fixed"), unsupported],
  ];
  for (const [next, previous, text] of cases) {
    test(`${JSON.stringify([previous.spec, previous.status, next.spec])}: ${text ?? "fine"}`, async () => {
      const world = new World();
      const make = (name: string, content: object) => ({
        kind: "StorageClass",
        apiVersion: "v1",
        metadata: { name },
        ...content,
      });
      await world.given("storageclasses", make("grow", { allowVolumeExpansion: true }), "storage.k8s.io");
      await world.given("storageclasses", make("fixed", {}), "storage.k8s.io");
      const write = { plural: "persistentvolumeclaims", object: next, previous };
      const { refusal } = await world.judge(persistentVolumeClaimResize(world.access), write);
      assert.equal(refusal, text && `persistentvolumeclaims "c" is forbidden: ${text}`);
    });
  }
});

async function withNodes(): Promise<World> {
  const world = new World();
  const node = (name: string, os: string, status: object) => ({
    kind: "Node",
    apiVersion: "v1",
    metadata: { name, labels: { "kubernetes.io/os": os } },
    status: { ...status },
  });
  await world.given("nodes", node("linux", "linux", { allocatable: { cpu: "2", memory: "1Gi" } }));
  await world.given("nodes", node("windows", "windows", { allocatable: { cpu: "2", memory: "1Gi" } }));
  const features = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"];
  await world.given("nodes", node("modern", "linux", { declaredFeatures: features }));
  return world;
}

const sized = (generation: number, nodeName: string, requests: object, extra: object = {}) =>
  pod({ nodeName, containers: [{ name: "a", resources: { requests } }], ...extra }, { generation });

suite("PodResizeValidator", () => {
  const cases: readonly [next: KubeObject, text: string | undefined, cause?: string][] = [
    [sized(2, "linux", { cpu: "2", memory: "1Gi" }), undefined],
    [sized(1, "linux", { cpu: "9" }), undefined],
    [sized(2, "", { cpu: "9" }), undefined],
    [
      sized(2, "linux", { cpu: "2001m", memory: "2Gi" }),
      "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
      "NodeCapacity",
    ],
    [
      sized(2, "linux", { cpu: "2" }, { overhead: { cpu: "1m" } }),
      "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000",
      "NodeCapacity",
    ],
    [
      sized(2, "windows", { cpu: "1" }),
      'pod resize is only supported on linux nodes, node "windows" is "windows"',
      "UnsupportedPlatform",
    ],
    [sized(2, "missing", { cpu: "1" }), 'node "missing" not found'],
  ];
  for (const [next, text, cause] of cases) {
    test(`${JSON.stringify(next.spec)}: ${text ?? "fine"}`, async () => {
      const world = await withNodes();
      const write = { plural: "pods", subresource: "resize", object: next, previous: sized(1, "linux", {}) };
      const { refusal, error } = await world.judge(podResizeValidator(world.access), write);
      assert.equal(refusal, text && `pods "p" is forbidden: ${text}`);
      assert.deepEqual(error?.status.details?.causes, cause === undefined ? undefined : [{ reason: cause }]);
    });
  }
});

suite("NodeDeclaredFeatureValidator", () => {
  const volumes = (sizeLimit: string, medium = "Memory") => ({
    volumes: [{ name: "v", emptyDir: { medium, sizeLimit } }],
  });
  const first = (cpu: string, restartPolicy?: string) => ({
    initContainers: [{ name: "i", restartPolicy, resources: { requests: { cpu } } }],
  });
  const cases: readonly [node: string, next: object, previous: object, missing: string | undefined][] = [
    ["linux", {}, {}, undefined],
    [
      "linux",
      { resources: { requests: { cpu: "2" } } },
      { resources: { requests: { cpu: "1" } } },
      "InPlacePodLevelResourcesVerticalScaling",
    ],
    ["modern", { resources: { requests: { cpu: "2" } } }, {}, undefined],
    ["linux", first("2"), first("1"), "InPlacePodVerticalScalingInitContainers"],
    ["linux", first("2", "Always"), first("1", "Always"), undefined],
    ["modern", volumes("2Gi"), volumes("1Gi"), "InPlacePodVerticalScalingMemoryBackedVolumes"],
    ["linux", volumes("1Gi"), volumes("1024Mi"), undefined],
    ["linux", volumes("2Gi", ""), volumes("1Gi", ""), undefined],
  ];
  for (const [node, next, previous, missing] of cases) {
    test(`${node}: ${JSON.stringify(previous)} to ${JSON.stringify(next)}`, async () => {
      const world = await withNodes();
      const write = {
        plural: "pods",
        subresource: "resize",
        object: sized(2, node, {}, next),
        previous: sized(1, node, {}, previous),
      };
      const { refusal } = await world.judge(nodeDeclaredFeatureValidator(world.access), write);
      const text = `pod update requires features ${missing} which are not available on node "${node}"`;
      assert.equal(refusal, missing && `pods "p" is forbidden: ${text}`);
    });
  }

  test("rejects a pod whose node does not exist", async () => {
    const world = await withNodes();
    const write = { plural: "pods", object: sized(2, "x", {}, first("2")), previous: sized(1, "x", {}, first("1")) };
    const { refusal } = await world.judge(nodeDeclaredFeatureValidator(world.access), write);
    assert.equal(refusal, 'pods "p" is forbidden: node "x" not found');
  });
});
