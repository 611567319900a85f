import assert from "node:assert/strict";
import { test } from "node:test";
import { printFieldError } from "../../../base/api/field-error.ts";
import { validateConditions } from "./conditions.ts";

const good = { type: "Ready", status: "True", lastTransitionTime: "2024-01-02T03:04:05Z", reason: "Because" };

test("rejects invalid conditions", () => {
  const rows: [conditions: object[], expected: readonly string[]][] = [
    [[good, { ...good, type: "Other" }], []],
    [[good, good], ['c[1]: Duplicate value: "Ready"']],
    [
      [{}],
      [
        "c[0].type: Required value: is required",
        "c[0].status: Required value",
        "c[0].lastTransitionTime: Required value",
        "c[0].reason: Required value",
      ],
    ],
    [
      [{ ...good, status: "Yes", observedGeneration: -1, message: "x".repeat(32_769) }],
      [
        'c[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
        "c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
        "c[0].message: Too long: may not be more than 32768 bytes",
      ],
    ],
  ];
  for (const [conditions, expected] of rows) {
    assert.deepEqual(validateConditions(JSON.parse(JSON.stringify(conditions)), "c").map(printFieldError), expected);
  }
});
