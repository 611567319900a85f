import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import type { Schema } from "../schema.ts";
import { applyDefaults } from "./default.ts";

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties: new Map(Object.entries(properties)),
  ...more,
});

function filled(value: JsonObject, schema: Schema): JsonObject {
  applyDefaults(value, schema);
  return value;
}

suite("applying defaults", () => {
  test("sets defaults if the parent exists", () => {
    const schema = object({ a: object({ b: { type: "integer", default: 1 } }), c: { type: "string", default: "x" } });
    assert.deepEqual(filled({}, schema), { c: "x" });
    assert.deepEqual(filled({ a: {} }, schema), { a: { b: 1 }, c: "x" });
    assert.deepEqual(filled({ a: { b: 0 }, c: "" }, schema), { a: { b: 0 }, c: "" });
  });

  test("sets defaults within a default, and copies the default for every object", () => {
    const schema = object({ a: object({ b: { type: "integer", default: 1 } }, { default: {} }) });
    const [one, other] = [filled({}, schema), filled({}, schema)];
    assert.deepEqual(one, { a: { b: 1 } });
    assert.notEqual(one.a, other.a);
  });

  test("sets defaults in lists and maps", () => {
    const item = object({ b: { type: "integer", default: 1 } });
    const schema = object({ list: { type: "array", items: item }, map: { type: "object", values: item } });
    assert.deepEqual(filled({ list: [{}, { b: 2 }], map: { x: {} } }, schema), {
      list: [{ b: 1 }, { b: 2 }],
      map: { x: { b: 1 } },
    });
  });

  test("replaces null unless the field is nullable", () => {
    const schema = object({ a: { type: "integer", default: 1 }, b: { type: "integer", default: 1, nullable: true } });
    assert.deepEqual(filled({ a: null, b: null }, schema), { a: 1, b: null });
    const item: Schema = { type: "integer", default: 7 };
    const many = object({ list: { type: "array", items: item }, map: { type: "object", values: item } });
    assert.deepEqual(filled({ list: [null, 1], map: { a: null, b: 1 } }, many), { list: [7, 1], map: { a: 7, b: 1 } });
  });

  test("sets the published defaults of built-in kinds", () => {
    const service = filled({ ports: [{ port: 80 }] }, builtInSchema("io.k8s.api.core.v1.ServiceSpec"));
    assert.deepEqual(service, { ports: [{ port: 80, protocol: "TCP" }] });
  });

  test("terminates for a type that contains itself", () => {
    const schema = builtInSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    assert.deepEqual(filled({ properties: { a: { type: "string" } } }, schema), {
      properties: { a: { type: "string" } },
    });
  });
});
