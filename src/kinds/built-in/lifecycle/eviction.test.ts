import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { lifecycleKinds } from "./group.ts";
import { byTurn } from "./target-responders.ts";

const request = kindUnderTest(lifecycleKinds, "EvictionRequest");
const eviction = kindUnderTest(lifecycleKinds, "Eviction");
const pod = { name: "p", uid: "0f7c3c3e-6e0f-4f42-9d3a-000000000001" };
const NOW = "2030-01-01T00:00:00Z";

test("rejects an invalid EvictionRequest", () => {
  const good = { target: { pod }, requester: "example.com/r", intent: "Eviction" };
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [{ target: {} }, ['spec.target: Invalid value: "": must specify one of: `pod`']],
    [
      { requester: "a.k8s.io/r", intent: "Stay" },
      [
        'spec.requester: Invalid value: "a.k8s.io/r": domain names *.k8s.io, *.kubernetes.io are reserved',
        'spec.intent: Unsupported value: "Stay": supported values: "Eviction", "Withdrawn"',
      ],
    ],
    [{ requester: "r" }, ["spec.requester: Invalid value: \"r\": must include a prefix (e.g. 'example.com/key')"]],
  ];
  for (const [change, expected] of rows) assert.deepEqual(request.problems({ spec: { ...good, ...change } }), expected);
});

test("orders responders by priority, then by domain", () => {
  const names = (list: JsonObject[]) => list.toSorted(byTurn).map(({ name }) => name);
  const [a, b, c] = ["b.example.com/x", "a.example.com/y", "example.com/z"].map((name) => ({ name, priority: 5 }));
  assert.deepEqual(names([a ?? {}, b ?? {}, c ?? {}, { name: "z.io/z", priority: 9 }]), [
    "z.io/z",
    "example.com/z",
    "a.example.com/y",
    "b.example.com/x",
  ]);
});

test("responders go from Inactive through Active to a final state, one after the other", () => {
  const states = (first: string, second: string) => [
    { name: "a.com/a", priority: 2000, state: first },
    { name: "b.com/b", priority: 1000, state: second },
  ];
  const reports = (first: JsonObject, second: JsonObject = {}) => [
    { name: "a.com/a", ...first },
    { name: "b.com/b", ...second },
  ];
  const running = { targetResponders: states("Active", "Inactive"), responders: reports({ startTime: NOW }) };
  const reported = reports({ startTime: NOW, completionTime: NOW });
  const done = reports({ startTime: NOW, completionTime: NOW }, { startTime: NOW });
  const rows: [previous: JsonObject, next: JsonObject, expected: readonly string[]][] = [
    [{}, running, []],
    [
      {},
      { targetResponders: states("Inactive", "Active"), responders: reports({}, { startTime: NOW }) },
      [
        'status.targetResponders[0].state: Invalid value: "Inactive": must be one of: Active, because this responder is next in line',
        'status.targetResponders[1].state: Invalid value: "Active": must be one of: Inactive, because the previously active has not finished processing',
      ],
    ],
    [{ ...running, responders: reported }, { targetResponders: states("Completed", "Active"), responders: done }, []],
    [
      running,
      { targetResponders: states("Completed", "Active"), responders: reports({ startTime: NOW }, { startTime: NOW }) },
      [
        "status.targetResponders[0].state: Forbidden: must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime",
        'status.targetResponders[0].state: Invalid value: "Completed": cannot become Completed because the responder didn\'t report status.responders.completionTime',
      ],
    ],
    [running, {}, ["status.targetResponders: Invalid value: null: must preserve the same length and the same keys"]],
  ];
  for (const [before, status, expected] of rows) {
    const previous = { spec: { target: { pod } }, status: before };
    assert.deepEqual(eviction.problems({ status }, { previous, subresource: "status" }), expected);
  }
});
