import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { schedulingKinds } from "./group.ts";

const workload = kindUnderTest(schedulingKinds, "Workload");
const podGroup = kindUnderTest(schedulingKinds, "PodGroup");
const composite = kindUnderTest(schedulingKinds, "CompositePodGroup");
const priorityClass = kindUnderTest(schedulingKinds, "PriorityClass");

const basic = { basic: {} };
const templates = (...podGroupTemplates: Json[]): JsonObject => ({ spec: { podGroupTemplates } });
const template = (name: string, change: JsonObject = {}): JsonObject => ({ name, schedulingPolicy: basic, ...change });
const tree = (...compositePodGroupTemplates: Json[]): JsonObject => ({ spec: { compositePodGroupTemplates } });

test("rejects an invalid Workload", () => {
  const rows: [body: JsonObject, previous: JsonObject | undefined, expected: readonly string[]][] = [
    [templates(template("a")), undefined, []],
    [
      { spec: {} },
      undefined,
      ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`'],
    ],
    [
      templates(template("a"), template("a")),
      undefined,
      [
        'spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}',
      ],
    ],
    [
      templates(template("a", { priority: 1 }), template("b")),
      undefined,
      ["spec: Invalid value: null: detected multiple priority configurations"],
    ],
    [
      templates(template("b")),
      templates(template("a")),
      [
        "spec.podGroupTemplates[0]: Forbidden: item may not be added",
        "spec.podGroupTemplates: Forbidden: item may not be removed",
      ],
    ],
    [
      templates({ name: "a", schedulingPolicy: { gang: { minCount: 3 } } }),
      templates({ name: "a", schedulingPolicy: { gang: { minCount: 2 } } }),
      [],
    ],
    [
      tree({ name: "a", schedulingPolicy: basic }),
      undefined,
      [
        'spec.compositePodGroupTemplates[0]: Invalid value: "a": must have at least one child PodGroupTemplate or CompositePodGroupTemplate',
      ],
    ],
    [
      tree({ name: "a", schedulingPolicy: basic, podGroupTemplates: [template("a")] }),
      undefined,
      ['spec.compositePodGroupTemplates[0].podGroupTemplates[0].name: Duplicate value: "a"'],
    ],
  ];
  for (const [body, previous, expected] of rows) assert.deepEqual(workload.problems(body, { previous }), expected);
});

test("older versions of a Workload have their own messages", () => {
  const groups = (...podGroups: Json[]): JsonObject => ({ spec: { podGroups } });
  const oldest = (body: JsonObject, previous?: JsonObject) =>
    workload.problems(body, { previous, version: "v1alpha1" });
  assert.deepEqual(oldest({ spec: {} }), ["spec.podGroups: Required value: must have at least one item"]);
  assert.deepEqual(oldest(groups({ name: "a", policy: { gang: { minCount: 0 } } })), [
    "spec.podGroups[0].policy.gang.minCount: Invalid value: 0: must be greater than zero",
  ]);
  const changed = oldest(groups({ name: "b", policy: basic }), groups({ name: "a", policy: basic }));
  assert.deepEqual(changed, [
    'podGroups: Invalid value: [{"Name":"b","Policy":{"Basic":{},"Gang":null}}]: field is immutable',
  ]);
  const controllerRef = { kind: "Job", name: "j" };
  const owned = { spec: { controllerRef, podGroups: [{ name: "a", policy: basic }] } };
  assert.deepEqual(oldest(owned, groups({ name: "a", policy: basic })), [], "an owner may be named later");
  const older = (body: JsonObject, previous?: JsonObject) => workload.problems(body, { previous, version: "v1alpha2" });
  assert.deepEqual(older(templates(template("b")), templates(template("a"))), [
    "spec.podGroupTemplates: Invalid value: null: field is immutable",
  ]);
  assert.deepEqual(older(templates(template("a", { disruptionMode: "Never" }))), [
    'spec.podGroupTemplates[0].disruptionMode: Unsupported value: "Never": supported values: "Pod", "PodGroup"',
  ]);
});

test("validates disruptionMode of a PodGroup, and its immutable spec", () => {
  const specOf = (body: JsonObject, version?: string) => podGroup.created(body, version).spec as JsonObject;
  const body = { spec: { schedulingPolicy: basic } };
  assert.deepEqual(specOf(body).disruptionMode, { single: {} });
  assert.deepEqual(specOf(body, "v1alpha2").disruptionMode, { single: {} });
  assert.equal(specOf({ spec: { ...body.spec, preemptionPolicy: "Never" } }).preemptionPolicy, undefined);
  assert.deepEqual(podGroup.problems({ spec: { schedulingPolicy: { gang: { minCount: 1 } } } }, { previous: body }), [
    "spec.schedulingPolicy.basic: Invalid value: null: field is immutable",
    "spec.schedulingPolicy.gang: Invalid value: null: field cannot be set once created",
  ]);
  assert.deepEqual(podGroup.problems({ spec: { ...body.spec, parentCompositePodGroupName: "p" } }), [
    "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set",
  ]);
  const status = { resourceClaimStatuses: [{ name: "c" }] };
  assert.deepEqual(podGroup.problems({ status }, { previous: body, subresource: "status" }), [
    'status.resourceClaimStatuses[0].name: Invalid value: "c": must match the name of an entry in `spec.resourceClaims`',
  ]);
  assert.deepEqual(composite.problems({ spec: { schedulingPolicy: basic } }), ["spec.workloadRef: Required value"]);
});

test("a PriorityClass is immutable, and system- names are reserved", () => {
  assert.deepEqual(priorityClass.problems({ value: 1_000_000_001 }), [
    "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
  ]);
  assert.deepEqual(priorityClass.problems({ metadata: { name: "system-x" } }), [
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class",
  ]);
  assert.deepEqual(priorityClass.problems({ value: 2, preemptionPolicy: "Never" }, { previous: { value: 1 } }), [
    "value: Forbidden: may not be changed in an update.",
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ]);
});
