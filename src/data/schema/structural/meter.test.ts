import assert from "node:assert/strict";
import { test } from "node:test";
import { Meter, TooCostly } from "../../../base/util/meter.ts";
import type { Schema } from "../schema.ts";
import { validateBySchema } from "./validate.ts";

const alternatives = (depth: number): Schema =>
  depth === 0 ? { required: ["a"] } : { anyOf: [alternatives(depth - 1), alternatives(depth - 1)] };

test("nested alternatives are charged for every value and alternative", () => {
  const schema: Schema = { type: "array", items: { type: "object", ...alternatives(6) } };
  const used = (items: number) => {
    const meter = new Meter(Number.MAX_SAFE_INTEGER);
    validateBySchema(schema, Array(items).fill({}), "", meter);
    return Number.MAX_SAFE_INTEGER - meter.left;
  };
  assert.ok(used(20) > 1.9 * used(10), "twice the values take twice the units");
  assert.throws(() => validateBySchema(schema, Array(4000).fill({}), "", new Meter(200_000)), TooCostly);
});

test("patterns are charged by the length of the text", () => {
  const schema: Schema = { type: "array", items: { type: "string", pattern: "^(a|b|ab)*c?$" } };
  const texts = Array(100).fill("ab".repeat(5000));
  assert.throws(() => validateBySchema(schema, texts, "", new Meter(200_000)), TooCostly);
  assert.deepEqual(validateBySchema(schema, ["ab"], "", new Meter(200_000)), []);
});
