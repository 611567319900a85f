import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { eventHooks } from "./event.ts";
import { convertEvent } from "./event-conversion.ts";

const NEW = "events.k8s.io/v1";
const TIME = "2021-03-04T05:06:07.123456Z";

const event = (content: JsonObject, namespace = "ns"): KubeObject => ({
  kind: "Event",
  apiVersion: "v1",
  metadata: { name: "e", namespace },
  involvedObject: { kind: "Pod", namespace: "ns", name: "p" },
  ...content,
});
const precise = { eventTime: TIME, reportingComponent: "c", reportingInstance: "i", action: "A", reason: "R" };

function problems(next: KubeObject, apiVersion: string, previous?: KubeObject): string[] {
  const errors =
    eventHooks.validate?.(next, previous, {
      subresource: "",
      apiVersion,
      now: 0,
      features: defaultFeatureGates,
      draft: new Draft(next),
    }) ?? [];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const objects = fc.record({ kind: fc.string(), name: fc.string() }, { requiredKeys: [], noNullPrototype: true });
const content = fc.record(
  {
    involvedObject: objects,
    source: fc.record({ component: fc.string() }, { noNullPrototype: true }),
    firstTimestamp: fc.constantFrom(null, "2021-03-04T05:06:07Z"),
    lastTimestamp: fc.constant(null),
    eventTime: fc.constantFrom(null, TIME),
    reportingComponent: fc.string(),
    reportingInstance: fc.string(),
    reason: fc.string({ minLength: 1 }),
    message: fc.string({ minLength: 1 }),
    count: fc.nat(),
    type: fc.string({ minLength: 1 }),
    action: fc.string({ minLength: 1 }),
    related: objects,
    series: fc.record({ count: fc.nat() }, { noNullPrototype: true }),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      ...["involvedObject", "source", "firstTimestamp", "lastTimestamp", "eventTime"],
      ...["reportingComponent", "reportingInstance"],
    ] as never[],
  },
);

test("an event survives conversion to the other group and back", () => {
  fc.assert(
    fc.property(content, (members) => {
      const before = event(members as JsonObject);
      const copy = structuredClone(before);
      const there = convertEvent(before, NEW);
      assert.deepEqual(before, copy);
      assert.equal(there.apiVersion, NEW);
      assert.deepEqual(convertEvent(there, "v1"), before);
    }),
  );
});

test("each group writes its required fields", () => {
  const bare = { kind: "Event", metadata: { name: "e" } };
  assert.deepEqual(convertEvent({ ...bare, apiVersion: NEW }, "v1"), {
    ...bare,
    apiVersion: "v1",
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  });
  assert.deepEqual(convertEvent({ ...bare, apiVersion: "v1" }, NEW), {
    ...bare,
    apiVersion: NEW,
    regarding: {},
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    eventTime: null,
  });
});

test("events.k8s.io/v1 is stricter", () => {
  const rows: [next: KubeObject, core: readonly string[], newer: readonly string[]][] = [
    [event({ ...precise, type: "Normal" }), [], []],
    [event({}), [], ["eventTime: Required value", 'type: Invalid value: "": has invalid value: ']],
    [
      event({ ...precise, type: "Normal", count: 1, source: { host: "h" }, series: { count: 1 } }),
      [],
      [
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
    [
      event({ ...precise, type: "Normal", action: "", message: "m".repeat(1025) }),
      ["action: Required value", 'message: Invalid value: "": can have at most 1024 characters'],
      ["action: Required value", 'message: Invalid value: "": can have at most 1024 characters'],
    ],
  ];
  for (const [next, core, newer] of rows) {
    assert.deepEqual(problems(next, "v1"), core);
    assert.deepEqual(problems(next, NEW), newer);
  }
  const elsewhere = 'involvedObject.namespace: Invalid value: "ns": does not match event.namespace';
  assert.deepEqual(problems(event({}, "other"), "v1"), [elsewhere]);
});

test("only the series can change through events.k8s.io/v1", () => {
  const before = event({ ...precise, type: "Normal" });
  const series = { count: 2, lastObservedTime: TIME };
  assert.deepEqual(problems({ ...before, series }, NEW, before), []);
  assert.deepEqual(
    problems({ ...before, reason: "S", involvedObject: { kind: "Node", namespace: "ns" } }, NEW, before),
    [
      'involvedObject: Invalid value: {"Kind":"Node","Namespace":"ns","Name":"","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
      'reason: Invalid value: "S": field is immutable',
    ],
  );
  assert.deepEqual(problems({ ...before, reason: "S" }, "v1", before), []);
});
