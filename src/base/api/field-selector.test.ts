import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesFields, parseFieldSelector } from "./field-selector.ts";

test("terms are split at commas that are not escaped", () => {
  assert.deepEqual(parseFieldSelector(String.raw`a=b\,c,,d!=e\=f,g==h\\`), [
    { field: "a", isEqual: true, value: "b,c" },
    { field: "d", isEqual: false, value: "e=f" },
    { field: "g", isEqual: true, value: "h\\" },
  ]);
});

test("a missing field counts as empty", () => {
  assert.equal(
    matchesFields(parseFieldSelector("x="), () => ""),
    true,
  );
  assert.equal(
    matchesFields(parseFieldSelector("x!="), () => ""),
    false,
  );
});

const REFUSED: Readonly<Record<string, string>> = {
  "metadata.name": "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
  "metadata.name=a\\": "invalid field selector: invalid escape sequence: \\",
  "a=b=c": "invalid field selector: unescaped character in value: 61",
};

for (const [selector, message] of Object.entries(REFUSED)) {
  test(`'${selector}' is rejected`, () => assert.throws(() => parseFieldSelector(selector), { message }));
}
