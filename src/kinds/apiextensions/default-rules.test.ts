import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/object.ts";
import { defaultErrors, withCoercedDefaults } from "./default-rules.ts";

const EMBEDDED = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};

/** A text whose rule is long, in objects within objects that all have defaults. */
function nested(depth: number): JsonObject {
  const rule = Array.from({ length: 2000 }, () => "self!='x'").join("&&");
  let schema: JsonObject = { type: "string", maxLength: 5, default: "y", "x-kubernetes-validations": [{ rule }] };
  for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema }, default: {} };
  return schema;
}

test("a rule is compiled once, however many defaults it judges", () => {
  const cost = (depth: number): number => {
    const before = process.threadCpuUsage();
    defaultErrors(nested(depth), "schema");
    const { user, system } = process.threadCpuUsage(before);
    return user + system;
  };
  const one = Math.min(cost(1), cost(1), cost(1));
  const many = Math.min(cost(60), cost(60), cost(60));
  assert.ok(many < 15 * one, `${many} µs, and ${one} µs for one`);
});

test("what validation changes in defaults is no part of the schema that was given", () => {
  const value = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", unknown: 1 } };
  const schema = { type: "object", properties: { e: { ...EMBEDDED, default: value }, plain: { type: "string" } } };
  const { properties } = withCoercedDefaults(schema) as { properties: typeof schema.properties };
  assert.deepEqual(properties.e.default, { ...value, metadata: { name: "a" } });
  assert.equal(value.metadata.unknown, 1);
  assert.equal(properties.plain, schema.properties.plain);
  const without = { type: "object", properties: { plain: { type: "string" } } };
  assert.equal(withCoercedDefaults(without), without);
});
