import assert from "node:assert/strict";
import { test } from "node:test";
import { isHeavy } from "./body-weight.ts";

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
