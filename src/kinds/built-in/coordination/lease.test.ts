import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { coordinationKinds } from "./group.ts";

const lease = kindUnderTest(coordinationKinds, "Lease");
const candidate = kindUnderTest(coordinationKinds, "LeaseCandidate");

test("rejects an invalid Lease", () => {
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{ holderIdentity: "", strategy: "example.com/mine", preferredHolder: "x" }, []],
    [
      { leaseDurationSeconds: 0, leaseTransitions: -1, preferredHolder: "x" },
      [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
      ],
    ],
    [
      { strategy: "Mine" },
      ['spec.strategy.strategy: Unsupported value: "Mine": supported values: "OldestEmulationVersion"'],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(lease.problems({ spec }), expected);
});

test("validates versions of a candidate, and keeps its lease", () => {
  const good = {
    leaseName: "l",
    binaryVersion: "1.2.0",
    emulationVersion: "1.1.0",
    strategy: "OldestEmulationVersion",
  };
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [
      { emulationVersion: "1.3.0" },
      ['spec.binaryVersion: Invalid value: "1.2.0": must be greater than or equal to `emulationVersion`'],
    ],
    [{ binaryVersion: "", leaseName: "" }, ["spec.leaseName: Required value", "spec.binaryVersion: Required value"]],
    [
      { emulationVersion: "x" },
      [
        'spec.emulationVersion: Invalid value: "x": must be a valid semantic version',
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
      ],
    ],
    [{ strategy: "" }, ["spec.strategy: Required value"]],
  ];
  for (const [change, expected] of rows)
    assert.deepEqual(candidate.problems({ spec: { ...good, ...change } }), expected);
  const moved = candidate.problems({ spec: { ...good, leaseName: "m" } }, { previous: { spec: good } });
  assert.deepEqual(moved, ['spec.leaseName: Invalid value: "m": field is immutable']);
});
