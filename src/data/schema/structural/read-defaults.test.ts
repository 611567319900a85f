import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../schema.ts";
import { applyDefaults } from "./default.ts";
import { withReadDefaults } from "./read-defaults.ts";

const KNOWN = ["name", "labels", "ownerReferences"];
const isKnown = ([name]: [string, unknown]) => KNOWN.includes(name);

/** Decodes as if ObjectMeta had only these fields. */
function readMetadata({ metadata }: JsonObject) {
  return { metadata: Object.fromEntries(Object.entries(metadata as JsonObject).filter(isKnown)), strict: [] };
}

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties: new Map(Object.entries(properties)),
  ...more,
});
const embedded = (metadata: Schema, more: Schema = {}) => object({ metadata }, { embeddedResource: true, ...more });
const text = (value: Json): Schema => ({ type: "string", default: value });

function defaulted(schema: Schema, spec: JsonObject): Json | undefined {
  const holder: JsonObject = { spec };
  applyDefaults(holder as Json, withReadDefaults(object({ spec: schema }), readMetadata));
  return holder.spec as Json;
}

suite("defaults in the metadata of embedded objects", () => {
  test("keeps defaults only for fields of ObjectMeta", () => {
    const labels: Schema = { type: "object", values: { type: "string" }, default: { a: "b" } };
    const schema = embedded(object({ name: text("n"), odd: text("o"), deep: object({ er: text("x") }), labels }));
    assert.deepEqual(defaulted(schema, { metadata: {} }), { metadata: { name: "n", labels: { a: "b" } } });
  });

  test("removes unknown fields from defaults of metadata and of its parents", () => {
    const metadata = { name: "n", odd: 1 };
    const inner = embedded(object({ odd: { type: "integer" } }, { default: metadata }));
    assert.deepEqual(defaulted(inner, {}), { metadata: { name: "n" } });
    const outer = object({ list: { type: "array", items: embedded({ type: "object" }), default: [{ metadata }] } });
    assert.deepEqual(defaulted(outer, {}), { list: [{ metadata: { name: "n" } }] });
  });

  test("handles defaults of items and members below metadata", () => {
    const items = object({ uid: text("u") });
    const schema = embedded(
      object({ ownerReferences: { type: "array", items }, odd: { type: "object", values: object({ a: text("x") }) } }),
    );
    assert.deepEqual(defaulted(schema, { metadata: { ownerReferences: [{}], odd: { m: {} } } }), {
      metadata: { ownerReferences: [{ uid: "u" }], odd: { m: {} } },
    });
  });

  test("does not change other defaults", () => {
    const schema = object({ plain: object({ metadata: object({ odd: text("o") }) }), size: text("s") });
    assert.equal(withReadDefaults(schema, readMetadata), schema);
    const free = embedded({ type: "object" }, { preserveUnknownFields: true });
    assert.equal(withReadDefaults(free, readMetadata), free);
  });
});
