import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../base/api/object.ts";
import { isHeavy, isHeavyValue } from "./body-weight.ts";

const MAX = 64 * 1024;
const heavy = (text: string) => isHeavy(Buffer.from(text), MAX);

test("a body over the size limit is heavy", () => {
  assert.equal(heavy("x".repeat(MAX)), false);
  assert.equal(heavy("x".repeat(MAX + 1)), true);
});

test("a smaller JSON or YAML body is heavy if it has many values", () => {
  const list = (count: number) => JSON.stringify({ items: Array(count).fill({}) });
  assert.equal(heavy(list(4000)), false);
  assert.equal(heavy(list(4200)), true);
  for (const end of ["\n", "\r", "\r\n"]) assert.equal(heavy(`- {}${end}`.repeat(4200)), true);
  assert.equal(heavy(`{"data":{"a":"${"x".repeat(60_000)}"}}`), false);
});

test("protobuf is heavy above a lower size limit, as its values cannot be counted", () => {
  const protobuf = (size: number) => `k8s\0${"\x12\0".repeat(size / 2)}`;
  assert.equal(heavy(protobuf(12_000)), false);
  assert.equal(heavy(protobuf(14_000)), true);
});

test("a value is heavy by the same limits", () => {
  const heavyValue = (value: Json) => isHeavyValue(value, MAX);
  assert.equal(heavyValue({ data: { a: "x".repeat(60_000) } }), false);
  assert.equal(heavyValue({ data: { a: "x".repeat(MAX), b: "x" } }), true);
  assert.equal(heavyValue({ data: { ["x".repeat(MAX + 1)]: "" } }), true);
  assert.equal(heavyValue({ items: Array(3900).fill({}) }), false);
  assert.equal(heavyValue({ items: Array(4200).fill({}) }), true);
  assert.equal(heavyValue(Array.from({ length: 100 }, () => Array(50).fill(1))), true);
});
