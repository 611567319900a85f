import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedErrors, type FieldError, invalidField, requiredField } from "./field-error.ts";

test("returns all errors of a check below the limits", () => {
  const errors = boundedErrors(() => {
    invalidField("discarded", 1, "");
    return [requiredField("a"), invalidField("b", "x", "is wrong")];
  });
  assert.deepEqual(
    errors.map(({ field }) => field),
    ["a", "b"],
  );
  assert.throws(() => boundedErrors(() => assert.fail("own")), /own/);
});

test("stops a check that exceeds the limits", () => {
  let made = 0;
  const check = (value: string, count: number) => () => {
    const errors: FieldError[] = [];
    for (made = 0; made < count; made++) errors.push(invalidField(`items[${made}]`, value, "is wrong"));
    return errors;
  };
  assert.equal(boundedErrors(check("x", 4_999)).length, 4_999);
  const many = boundedErrors(check("x", 1_000_000));
  assert.deepEqual([many.length, made, many[0]?.field], [5_000, 4_999, "items[0]"]);
  assert.ok(boundedErrors(check("x".repeat(1024 * 1024), 1_000)).length < 20);
  assert.equal(boundedErrors(check("x", 10)).length, 10);
  assert.equal(check("x", 6_000)().length, 6_000);
});
