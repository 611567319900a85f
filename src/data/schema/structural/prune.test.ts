import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { parseJson } from "../../encoding/json/json.ts";
import type { Schema } from "../schema.ts";
import { pruneBySchema, pruneNulls } from "./prune.ts";

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties: new Map(Object.entries(properties)),
  ...more,
});
const string: Schema = { type: "string" };

function pruned(spec: JsonObject, schema: Schema): [JsonObject, string[]] {
  const body: JsonObject = { apiVersion: "v1", kind: "K", metadata: { name: "n", odd: 1 }, spec };
  const unknown = pruneBySchema(body, object({ spec: schema }));
  return [body.spec as JsonObject, unknown];
}

suite("pruning a custom object", () => {
  test("removes unknown fields and reports them sorted by path", () => {
    const schema = object({
      list: { type: "array", items: object({ a: string }) },
      map: { type: "object", values: string },
    });
    const [spec, unknown] = pruned({ z: 1, list: [{ a: "1", b: 2 }], map: { any: "x" }, b: 1 }, schema);
    assert.deepEqual(spec, { list: [{ a: "1" }], map: { any: "x" } });
    const fields = ["spec.b", "spec.list[0].b", "spec.z"];
    assert.deepEqual(
      unknown,
      fields.map((field) => `unknown field "${field}"`),
    );
  });

  test("keeps integers that do not fit a double", () => {
    const { spec } = parseJson(Buffer.from('{"spec":{"i":9223372036854775807,"map":{"a":-9007199254740993}}}')) as {
      spec: JsonObject;
    };
    const integer: Schema = { type: "integer" };
    const [kept, unknown] = pruned(spec, object({ i: integer, map: { type: "object", values: integer } }));
    assert.equal(JSON.stringify(kept), '{"i":9223372036854775807,"map":{"a":-9007199254740993}}');
    assert.deepEqual(unknown, []);
  });

  test("keeps preserved unknown fields, but not within specified ones", () => {
    const schema = object({ known: object({ a: string }) }, { preserveUnknownFields: true });
    const [spec, unknown] = pruned({ free: { any: { thing: 1 } }, known: { a: "1", b: 2 } }, schema);
    assert.deepEqual(spec, { free: { any: { thing: 1 } }, known: { a: "1" } });
    assert.deepEqual(unknown, ['unknown field "spec.known.b"']);
  });

  test("keeps apiVersion, kind and metadata of embedded objects", () => {
    const body = { apiVersion: "v1", kind: "Anything", metadata: { strange: 1 }, more: true };
    const [spec, unknown] = pruned({ ...body }, object({}, { embeddedResource: true }));
    assert.deepEqual(spec, { apiVersion: "v1", kind: "Anything", metadata: { strange: 1 } });
    assert.deepEqual(unknown, ['unknown field "spec.more"']);
  });

  test("empties objects below additionalProperties: true", () => {
    const [spec] = pruned({ a: 1, b: { c: 1 }, d: [{ e: 1 }, "f"] }, { type: "object", values: true });
    assert.deepEqual(spec, { a: 1, b: {}, d: [{}, "f"] });
  });

  test("keeps members that validation forbids, and empties objects among them", () => {
    const schema = { type: "object", forbidsOthers: true } as const;
    for (const preserveUnknownFields of [false, true]) {
      const [spec, unknown] = pruned({ a: 1, b: { c: 1 } }, { ...schema, preserveUnknownFields });
      assert.deepEqual(spec, { a: 1, b: {} });
      assert.deepEqual(unknown, ['unknown field "spec.b.c"']);
    }
  });

  test("treats __proto__ as any other name", () => {
    const body: JsonObject = { spec: JSON.parse('{"__proto__":{"a":1}}') };
    assert.deepEqual(pruneBySchema(body, object({ spec: object({}) })), ['unknown field "spec.__proto__"']);
    assert.equal(JSON.stringify(body), '{"spec":{}}');
  });
});

test("removes nulls from fields that are not nullable and have no default", () => {
  const field = object({ a: string, b: { ...string, nullable: true }, c: { ...string, default: "x" } });
  const schema = object({
    list: { type: "array", items: field },
    map: { type: "object", values: field },
    free: { type: "object", preserveUnknownFields: true },
  });
  const nulls = () => ({ a: null, b: null, c: null });
  const value = { list: [nulls()], map: { one: nulls(), two: null }, free: { a: null } };
  pruneNulls(value, schema);
  const left = { b: null, c: null };
  assert.deepEqual(value, { list: [left], map: { one: left }, free: { a: null } });
});
