import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { defaultsOf } from "./defaults.ts";

const fill = defaultsOf({ "spec.type": "A", "spec.ports[*].protocol": "TCP", "spec.inner": {}, "spec.inner.x": 1 });

const filled = (spec: JsonObject | undefined) => {
  const object = { kind: "K", apiVersion: "v1", metadata: {}, ...(spec ? { spec } : {}) };
  fill(object);
  return (object as { spec?: JsonObject }).spec;
};

test("sets fields that are absent, null or empty if their parent exists", () => {
  assert.deepEqual(filled({ type: "", ports: [{}, { protocol: "UDP" }], inner: null }), {
    type: "A",
    ports: [{ protocol: "TCP" }, { protocol: "UDP" }],
    inner: { x: 1 },
  });
  assert.deepEqual(filled({ type: "B", inner: { x: 2 } }), { type: "B", inner: { x: 2 } });
  assert.equal(filled(undefined), undefined);
});

test("does not share defaults between objects", () => {
  const [first, second] = [filled({}), filled({})];
  assert.notEqual(first?.inner, second?.inner);
});

test("keeps an empty string where the schema distinguishes it from absent", () => {
  const field = { type: "string" } as const;
  const properties = new Map<string, Schema>([
    ["pointer", field],
    ["plain", { ...field, zero: "written" }],
  ]);
  const schema: Schema = { properties: new Map([["spec", { properties }]]) };
  const object = { kind: "K", apiVersion: "v1", metadata: {}, spec: { pointer: "", plain: "" } };
  defaultsOf({ "spec.pointer": "A", "spec.plain": "A" }, schema)(object);
  assert.deepEqual(object.spec, { pointer: "", plain: "A" });
});
