import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedErrors, type FieldError, invalidField, quote, requiredField } from "./field-error.ts";

test("a check that finds little is not touched", () => {
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

test("a check that finds very much is cut short", () => {
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

test("strings are quoted as Go's %q does it", () => {
  const quoted: Record<string, string> = {
    "plain, with spaces": '"plain, with spaces"',
    'say "a\\b"': '"say \\"a\\\\b\\""',
    "\0\u0007\b\t\n\v\f\r\u001b\u007f": '"\\x00\\a\\b\\t\\n\\v\\f\\r\\x1b\\x7f"',
    "\\u0001": '"\\\\u0001"',
    "é世😀": '"é世😀"',
    "é\u0085\u00a0\u200b\u2028\ufeff": '"é\\u0085\\u00a0\\u200b\\u2028\\ufeff"',
    "\u{e0001} ": '"\\U000e0001 "',
  };
  for (const [text, expected] of Object.entries(quoted)) assert.equal(quote(text), expected);
  assert.equal(quote("\0".repeat(1_000_000)), `"${"\\x00".repeat(1_000_000)}"`);
});
