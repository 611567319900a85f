import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { appsKinds } from "./group.ts";

const container = { name: "main", image: "registry.example/app:1" };
const template = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [container], ...more },
});
const selector = { matchLabels: { app: "a" } };
const workload = (spec: JsonObject = {}): JsonObject => ({ spec: { selector, template: template(), ...spec } });
const kind = (name: string) => kindUnderTest(appsKinds, name);
const specOf = (object: JsonObject) => object.spec as JsonObject;

const MISMATCH = "`selector` does not match template `labels`";
const NOT_NEGATIVE = "must be greater than or equal to 0";

test("sets defaults of workloads", () => {
  const rows: [kind: string, spec: JsonObject, expected: JsonObject][] = [
    [
      "Deployment",
      {},
      {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      },
    ],
    ["Deployment", { strategy: { type: "Recreate" } }, { strategy: { type: "Recreate" } }],
    ["ReplicaSet", { replicas: 0 }, { replicas: 0 }],
    ["DaemonSet", {}, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } }],
    [
      "DaemonSet",
      { updateStrategy: { type: "OnDelete", rollingUpdate: {} } },
      { updateStrategy: { type: "OnDelete", rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    ],
    [
      "StatefulSet",
      {},
      {
        podManagementPolicy: "OrderedReady",
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 1 } },
      },
    ],
    ["StatefulSet", { updateStrategy: { type: "RollingUpdate" } }, { updateStrategy: { type: "RollingUpdate" } }],
  ];
  for (const [name, spec, expected] of rows) {
    const found = specOf(kind(name).complete(workload(spec)));
    for (const [member, value] of Object.entries(expected)) assert.deepEqual(found[member], value, `${name} ${member}`);
  }
});

test("sets kind and apiVersion of a StatefulSet's volumeClaimTemplates", () => {
  const claim = { metadata: { name: "data" }, kind: "Other", spec: { accessModes: ["ReadWriteOnce"] } };
  const { volumeClaimTemplates } = specOf(kind("StatefulSet").complete(workload({ volumeClaimTemplates: [claim] })));
  const spec = { accessModes: ["ReadWriteOnce"], resources: {}, volumeMode: "Filesystem" };
  const expected = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec };
  assert.deepEqual(volumeClaimTemplates, [{ ...expected, status: { phase: "Pending" } }]);
});

test("a DaemonSet counts the changes of its template", () => {
  const key = "deprecated.daemonset.template.generation";
  const { created, complete } = kind("DaemonSet");
  assert.equal(created(workload()).metadata.annotations?.[key], "1");
  const kept = { ...workload(), metadata: { annotations: { [key]: "7" } } };
  assert.equal(created(kept).metadata.annotations?.[key], "7");
  const broken = { ...workload(), metadata: { annotations: { [key]: "x" } } };
  assert.throws(() => complete(broken), /strconv.ParseInt: parsing "x": invalid syntax/);
});

test("reports errors of new workloads in order", () => {
  const rows: [kind: string, body: JsonObject, expected: readonly string[]][] = [
    ["Deployment", workload(), []],
    [
      "Deployment",
      { spec: { template: template() } },
      ["spec.selector: Required value", `spec.template.metadata.labels: Invalid value: {"app":"a"}: ${MISMATCH}`],
    ],
    [
      "Deployment",
      workload({ selector: {}, replicas: -1 }),
      [
        `spec.replicas: Invalid value: -1: ${NOT_NEGATIVE}`,
        "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
      ],
    ],
    [
      "Deployment",
      workload({ strategy: { type: "Yolo" }, minReadySeconds: 700 }),
      [
        'spec.strategy: Unsupported value: {"Type":"Yolo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
        "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
      ],
    ],
    [
      "Deployment",
      workload({ strategy: { rollingUpdate: { maxSurge: "0%", maxUnavailable: 0 } } }),
      ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
    ],
    [
      "ReplicaSet",
      workload({ selector: { matchExpressions: [{ key: "app", operator: "Near" }] } }),
      [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Near"}]}: invalid label selector',
      ],
    ],
    [
      "StatefulSet",
      workload({ podManagementPolicy: "Chaos", ordinals: { start: -1 }, serviceName: "Not_A_Label" }),
      [
        "spec.podManagementPolicy: Invalid value: \"Chaos\": must be 'OrderedReady' or 'Parallel'",
        `spec.ordinals.start: Invalid value: -1: ${NOT_NEGATIVE}`,
        "spec.serviceName: Invalid value: \"Not_A_Label\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      "StatefulSet",
      workload({ updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 2 } } }),
      [
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
      ],
    ],
    [
      "DaemonSet",
      workload({
        updateStrategy: { rollingUpdate: { maxSurge: 1 } },
        template: template({ restartPolicy: "Never", activeDeadlineSeconds: 5 }),
      }),
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
        "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
      ],
    ],
    [
      "ControllerRevision",
      { revision: -1 },
      [`revision: Invalid value: -1: ${NOT_NEGATIVE}`, "data: Required value: data is mandatory"],
    ],
    ["ControllerRevision", { data: [1] }, ["data: Required value: data must be a valid JSON object"]],
  ];
  for (const [name, body, expected] of rows) assert.deepEqual(kind(name).problems(body), expected, name);
});

test("rejects changes of immutable fields", () => {
  const other = { matchLabels: { app: "a", x: "y" } };
  const changed = workload({
    selector: other,
    template: { ...template(), metadata: { labels: { app: "a", x: "y" } } },
  });
  for (const name of ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]) {
    assert.deepEqual(kind(name).problems(changed, { previous: workload() }), [
      'spec.selector: Invalid value: {"matchLabels":{"app":"a","x":"y"}}: field is immutable',
    ]);
  }
  const set = workload({ serviceName: "s" });
  assert.deepEqual(kind("StatefulSet").problems(workload({ serviceName: "t", replicas: 4 }), { previous: set }), [
    'spec.serviceName: Invalid value: "t": field is immutable',
  ]);
  assert.deepEqual(kind("ControllerRevision").problems({ data: { a: 2 } }, { previous: { data: { a: 1 } } }), [
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
});

test("rejects inconsistent status counters", () => {
  const status = (name: string, next: JsonObject, before: JsonObject = {}) => {
    const previous = { ...workload(), status: before };
    return kind(name).problems({ status: next }, { previous, subresource: "status" });
  };
  assert.deepEqual(status("Deployment", { replicas: 2, readyReplicas: 1, availableReplicas: 1 }), []);
  assert.deepEqual(status("Deployment", { replicas: 1, readyReplicas: 2, availableReplicas: -1 }), [
    `status.availableReplicas: Invalid value: -1: ${NOT_NEGATIVE}`,
    "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
  ]);
  assert.deepEqual(status("StatefulSet", { replicas: 3, availableReplicas: 1 }, { collisionCount: 2 }), [
    "status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas",
    "status.collisionCount: Invalid value: 0: cannot be decremented",
  ]);
});

test("warns about names that pods cannot have", () => {
  const [warning = ""] = kind("Deployment").warnings({ ...workload(), metadata: { name: "a.b" } });
  assert.match(warning, /^metadata.name: this is used in Pod names .*: \[must not contain dots\]$/);
  assert.deepEqual(kind("StatefulSet").warnings(workload({ revisionHistoryLimit: -1 })), [
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
  ]);
});
