import assert from "node:assert/strict";
import { test } from "node:test";
import { withCoercedDefaults } from "./default-rules.ts";

const EMBEDDED = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};

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
