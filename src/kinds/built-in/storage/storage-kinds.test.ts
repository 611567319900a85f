import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { storageKinds } from "./group.ts";

type Row = [kind: string, body: JsonObject, previous: JsonObject | undefined, expected: readonly string[]];

const storageClass = { provisioner: "p.example.com", parameters: { a: "b" } };
const attributes = { driverName: "d.example.com", parameters: { a: "b" } };
const node = { spec: { drivers: [{ name: "d.example.com", nodeID: "n", topologyKeys: ["a"] }] } };
const capacity = { storageClassName: "s", nodeTopology: { matchLabels: { a: "b" } } };
const attachment = { spec: { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "pv" } } };
const driver = { spec: { attachRequired: true } };

const rows: Row[] = [
  ["StorageClass", storageClass, undefined, []],
  ["StorageClass", {}, undefined, ["provisioner: Required value"]],
  [
    "StorageClass",
    { ...storageClass, volumeBindingMode: "", allowedTopologies: [{}, { matchLabelExpressions: [{ key: "k" }] }] },
    undefined,
    [
      'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"',
      'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      "allowedTopologies[1].matchLabelExpressions[0].values: Required value",
    ],
  ],
  [
    "StorageClass",
    { provisioner: "q", parameters: { a: "c" } },
    storageClass,
    ["provisioner: Invalid value: null: field is immutable", "parameters: Invalid value: null: field is immutable"],
  ],
  [
    "VolumeAttributesClass",
    {},
    undefined,
    ["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
  ],
  [
    "VolumeAttributesClass",
    { ...attributes, parameters: { a: "c" } },
    attributes,
    ["parameters: Forbidden: updates to parameters are forbidden."],
  ],
  [
    "CSIDriver",
    { spec: { fsGroupPolicy: "", tokenRequests: [{ expirationSeconds: 5 }, {}], volumeLifecycleModes: ["Once"] } },
    undefined,
    [
      'spec.fsGroupPolicy: Unsupported value: "": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
      'spec.tokenRequests[1].audience: Duplicate value: ""',
      'spec.volumeLifecycleModes: Unsupported value: "Once": supported values: "Persistent", "Ephemeral"',
    ],
  ],
  [
    "CSIDriver",
    { spec: { attachRequired: false } },
    driver,
    ["spec.attachedRequired: Invalid value: false: field is immutable"],
  ],
  [
    "CSINode",
    { spec: { drivers: [{ name: "d.example.com", nodeID: "m", topologyKeys: ["a"], allocatable: { count: 1 } }] } },
    node,
    [
      'spec.drivers: Invalid value: {"Name":"d.example.com","NodeID":"m","TopologyKeys":["a"],"Allocatable":null}: field is immutable',
    ],
  ],
  [
    "CSIStorageCapacity",
    { ...capacity, storageClassName: "t", capacity: "-1" },
    capacity,
    [
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
      'storageClassName: Invalid value: "t": field is immutable',
    ],
  ],
  ["VolumeAttachment", attachment, undefined, []],
  [
    "VolumeAttachment",
    { spec: { nodeName: "n" } },
    undefined,
    [
      "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      "spec.attacher: Required value",
    ],
  ],
  [
    "VolumeAttachment",
    { spec: { ...attachment.spec, source: { inlineVolumeSpec: { hostPath: { path: "/a" } } } } },
    undefined,
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.accessModes: Required value",
    ],
  ],
  [
    "VolumeAttachment",
    { spec: { ...attachment.spec, nodeName: "m" } },
    attachment,
    ["spec: Invalid value: null: field is immutable"],
  ],
];

test("rejects invalid storage objects", () => {
  for (const [kind, body, previous, expected] of rows) {
    assert.deepEqual(kindUnderTest(storageKinds, kind).problems(body, { previous }), expected, kind);
  }
});

test("sets defaults of a CSIDriver, and counts only changes", () => {
  const drivers = kindUnderTest(storageKinds, "CSIDriver");
  const { spec, metadata } = drivers.created({ spec: { tokenRequests: [{ audience: "a" }] } });
  assert.equal((spec as JsonObject).fsGroupPolicy, "ReadWriteOnceWithFSType");
  assert.equal(metadata.generation, undefined);
  assert.equal(drivers.warnings({ spec: { tokenRequests: [{ audience: "a" }] } }).length, 1);
  const old = { matchLabelExpressions: [{ key: "beta.kubernetes.io/os", values: ["linux"] }] };
  const warnings = kindUnderTest(storageKinds, "StorageClass").warnings({ ...storageClass, allowedTopologies: [old] });
  assert.deepEqual(warnings, [
    'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});
