import assert from "node:assert/strict";
import { test } from "node:test";
import { cloneJson } from "./clone.ts";

test("a copy is equal and shares no mutable member", () => {
  const value = { a: [1, { b: null }], c: "text" };
  const copy = cloneJson(value);
  assert.deepEqual(copy, value);
  assert.notEqual(copy.a, value.a);
  assert.notEqual(copy.a[1], value.a[1]);
});

test("a member named __proto__ stays a member", () => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"polluted":true}}'));
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.equal(JSON.stringify(copy), '{"__proto__":{"polluted":true}}');
});
