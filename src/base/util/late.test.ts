import assert from "node:assert/strict";
import { test } from "node:test";
import { Late } from "./late.ts";

test("a late value can be read after it is set, and is set once", () => {
  const late = new Late<number | undefined>("the port");
  assert.throws(() => late.value, /the port is used before it is set/);
  late.set(undefined);
  assert.equal(late.value, undefined);
  assert.throws(() => late.set(1), /the port is set twice/);
});
