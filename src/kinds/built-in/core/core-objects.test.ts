import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { serviceAccountHooks } from "./config/config-data.ts";
import { coreKinds } from "./group.ts";

const kind = (name: string) => kindUnderTest(coreKinds, name);
const volume = (spec: JsonObject = {}): JsonObject => ({
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
});
const claim = (spec: JsonObject = {}): JsonObject => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const hostPath = { path: "/data" };
const limits = (...list: JsonObject[]): JsonObject => ({ spec: { limits: list } });
const quota = (spec: JsonObject): JsonObject => ({ spec });

test("sets defaults", () => {
  const rows: [kind: string, body: JsonObject, expected: JsonObject][] = [
    ["Node", { spec: { podCIDR: "10.1.0.0/24" } }, { spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] } }],
    ["Node", { spec: { podCIDRs: ["10.1.0.0/24"] } }, { spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] } }],
    ["Node", { status: { capacity: { cpu: "2" } } }, { status: { capacity: { cpu: "2" }, allocatable: { cpu: "2" } } }],
    ["Endpoints", { subsets: [{ ports: [{ port: 1 }] }] }, { subsets: [{ ports: [{ port: 1, protocol: "TCP" }] }] }],
    [
      "LimitRange",
      limits({ type: "Container", max: { cpu: "2" }, min: { cpu: "1", memory: "1" } }),
      limits({ type: "Container", default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1" } }),
    ],
    [
      "PersistentVolume",
      volume({ hostPath }),
      {
        spec: {
          hostPath: { path: "/data", type: "" },
          persistentVolumeReclaimPolicy: "Retain",
          volumeMode: "Filesystem",
        },
      },
    ],
    ["PersistentVolumeClaim", claim(), { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } }],
  ];
  for (const [name, body, expected] of rows) assert.partialDeepStrictEqual(kind(name).complete(body), expected, name);
});

test("new volumes and claims are Pending", () => {
  const { status } = kind("PersistentVolume").created(volume({ hostPath }));
  assert.deepEqual(status, { phase: "Pending", lastPhaseTransitionTime: "2030-01-01T00:00:00Z" });
  assert.deepEqual(kind("PersistentVolumeClaim").created(claim()).status, { phase: "Pending" });
});

test("makes dataSource and dataSourceRef consistent where possible", () => {
  const { created } = kind("PersistentVolumeClaim");
  const other = { apiGroup: null, kind: "PersistentVolumeClaim", name: "other" };
  assert.partialDeepStrictEqual(created(claim({ dataSource: { kind: other.kind, name: "other" } })), {
    spec: { dataSource: other, dataSourceRef: other },
  });
  const thing = { apiGroup: "example.com", kind: "Thing", name: "t" };
  assert.partialDeepStrictEqual(created(claim({ dataSourceRef: thing })), {
    spec: { dataSource: thing, dataSourceRef: thing },
  });
  assert.ok(!("dataSource" in (created(claim({ dataSource: thing })).spec as JsonObject)));
});

test("reports errors of new objects in order", () => {
  const taints = [
    { key: "a", effect: "NoSchedule" },
    { key: "a", effect: "NoSchedule" },
  ];
  const rows: [kind: string, body: JsonObject, expected: readonly string[]][] = [
    [
      "Node",
      { spec: { taints } },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [
      "Node",
      { spec: { podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] } },
      [
        'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    ["Endpoints", { subsets: [{}] }, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
    [
      "LimitRange",
      limits({ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }),
      [
        'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
      ],
    ],
    [
      "LimitRange",
      limits({ type: "Pod", max: { cpu: "2" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "3" } }),
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
    ],
    [
      "ResourceQuota",
      quota({ hard: { storage: "1", pods: "1.5" } }),
      [
        'spec.hard[pods]: Invalid value: "1500m": must be an integer',
        'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
      ],
    ],
    [
      "ResourceQuota",
      quota({ hard: { cpu: "1" }, scopes: ["BestEffort", "NotBestEffort"] }),
      [
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: unsupported scope applied to resource',
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
      ],
    ],
    ["PersistentVolume", volume(), ["spec: Required value: must specify a volume type"]],
    [
      "PersistentVolume",
      volume({ hostPath: { path: "/" }, nfs: { server: "s", path: "/p" }, persistentVolumeReclaimPolicy: "Recycle" }),
      [
        "spec.nfs: Forbidden: may not specify more than 1 volume type",
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      "PersistentVolume",
      volume({ local: { path: "/mnt" } }),
      ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    ],
    [
      "PersistentVolumeClaim",
      claim({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"], resources: {} }),
      [
        "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        "spec.resources[storage]: Required value",
      ],
    ],
  ];
  for (const [name, body, expected] of rows) assert.deepEqual(kind(name).problems(body), expected, name);
});

/** The first lines, without the listing of differences. */
const heads = (lines: readonly string[]) => lines.map((line) => line.split("\n")[0]);

test("rejects changes of immutable fields", () => {
  const bound = { ...claim(), status: { phase: "Bound", capacity: { storage: "1Gi" } } };
  const rows: [kind: string, previous: JsonObject, body: JsonObject, expected: readonly string[]][] = [
    [
      "Node",
      { spec: { providerID: "a", podCIDRs: ["10.1.0.0/24"] } },
      { spec: {} },
      [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
        "spec.providerID: Invalid value: null: field cannot be cleared once set",
      ],
    ],
    [
      "ResourceQuota",
      quota({ hard: { pods: "1" }, scopes: ["BestEffort"] }),
      quota({ hard: { pods: "2" } }),
      ["spec.scopes: Invalid value: null: field is immutable"],
    ],
    [
      "PersistentVolume",
      volume({ hostPath }),
      volume({ hostPath: { path: "/other" }, volumeMode: "Block" }),
      [
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
        'volumeMode: Invalid value: "Block": field is immutable',
      ],
    ],
    ["PersistentVolumeClaim", claim(), claim({ volumeName: "v", storageClassName: "c" }), []],
    ["PersistentVolumeClaim", claim(), claim({ resources: { requests: { storage: "1024Mi" } } }), []],
    [
      "PersistentVolumeClaim",
      claim(),
      claim({ resources: { requests: { storage: "2Gi" } } }),
      [
        "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
      ],
    ],
    ["PersistentVolumeClaim", bound, claim({ resources: { requests: { storage: "2Gi" } } }), []],
    [
      "PersistentVolumeClaim",
      bound,
      claim({ resources: { requests: { storage: "512Mi" } } }),
      ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
    ],
  ];
  for (const [name, previous, body, expected] of rows) {
    assert.deepEqual(heads(kind(name).problems(body, { previous })), expected, name);
  }
});

test("warns about a deprecated annotation of a ServiceAccount when it is added", () => {
  const account = (annotations: Record<string, string>) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "one", annotations },
  });
  const enforced = account({ "kubernetes.io/enforce-mountable-secrets": "false" });
  const context = {
    subresource: "",
    apiVersion: "v1",
    now: 0,
    features: defaultFeatureGates,
    draft: new Draft(enforced),
  };
  const text =
    "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
  assert.deepEqual(serviceAccountHooks.warn?.(enforced, undefined, context), [text]);
  assert.deepEqual(serviceAccountHooks.warn?.(enforced, account({ other: "x" }), context), [text]);
  assert.deepEqual(serviceAccountHooks.warn?.(enforced, enforced, context), []);
  assert.deepEqual(serviceAccountHooks.warn?.(account({}), enforced, context), []);
});
