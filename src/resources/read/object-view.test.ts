import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../storage/store.ts";
import { serve } from "../model/catalog.ts";
import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { ViewCache } from "./view-cache.ts";

const codec = new ObjectCodec();
const version = { name: "v1", schemaName: "Thing", schema: () => ({}) } as unknown as ServedVersion;
const definition = {
  group: "",
  kind: "Thing",
  reading: "typed",
  versions: [version],
  subresources: {},
  rules: {},
} as unknown as ResourceDefinition;
const resource = serve(definition, version);
const other = { ...resource, apiVersion: "v2" };

const OBJECT = { kind: "Thing", apiVersion: "v1", metadata: { name: "a", resourceVersion: "1" }, data: { x: "y" } };

function entry(value: Uint8Array | string): Entry {
  return { key: "/k", value: Buffer.from(value), createRevision: 5, modRevision: 7 };
}

const read = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString());

test("stored values have no resourceVersion, views have the revision", () => {
  const stored = codec.write(OBJECT);
  assert.equal(
    Buffer.from(stored).toString(),
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a"},"data":{"x":"y"}}',
  );
  const view = new ViewCache(codec).view(resource, entry(stored));
  const shown = { ...OBJECT, metadata: { name: "a", resourceVersion: "7" } };
  assert.deepEqual(view.object, shown);
  assert.deepEqual(read(view.json()), shown);
  assert.deepEqual(read(view.itemJson()), { metadata: shown.metadata, data: shown.data });
});

test("decodes and reprints a value in another version or form", () => {
  const foreign = ' {"apiVersion":"v1","kind":"Thing","metadata":{"name":"a"}}';
  const view = new ViewCache(codec).view(resource, entry(foreign));
  assert.deepEqual(read(view.json()), {
    kind: "Thing",
    apiVersion: "v1",
    metadata: { name: "a", resourceVersion: "7" },
  });
  const converted = new ViewCache(codec).view(other, entry(codec.write(OBJECT)));
  assert.equal(read(converted.json()).apiVersion, "v2");
});

test("drops a line feed at the end of a stored value", () => {
  const view = new ViewCache(codec).view(resource, entry(`${Buffer.from(codec.write(OBJECT))}\n`));
  assert.equal(view.json().at(-1), "}".charCodeAt(0));
});

test("a line has one line feed, with or without one in the stored value", () => {
  for (const ending of ["", "\n"]) {
    const view = new ViewCache(codec).view(resource, entry(`${Buffer.from(codec.write(OBJECT))}${ending}`));
    assert.equal(String(view.jsonLine?.()), `${view.json()}\n`);
  }
});

test("shows a deleted object at the revision of its deletion", () => {
  const view = new ViewCache(codec).of(resource).removed(entry(codec.write(OBJECT)), 9);
  assert.equal(view.object.metadata.resourceVersion, "9");
  assert.equal(read(view.json()).metadata.resourceVersion, "9");
});

test("copies an item without decoding it", () => {
  const foreign = Buffer.from(JSON.stringify({ metadata: OBJECT.metadata, kind: "Thing", apiVersion: "v1", data: 1 }));
  for (const value of [codec.write(OBJECT), Buffer.from(`${Buffer.from(codec.write(OBJECT))}\n`), foreign]) {
    for (const modRevision of [1, 9, 10, 999_999, 1_000_000, 2 ** 40]) {
      const view = new ViewCache(codec).view(resource, { ...entry(value), modRevision });
      const expected = Buffer.from(view.itemJson());
      assert.equal(view.itemSize(), expected.length);
      const target = Buffer.alloc(expected.length + 200);
      assert.equal(view.writeItem(target, 1), expected.length + 1);
      assert.deepEqual(target.subarray(1, expected.length + 1), expected);
      assert.equal(view.writeItem(target, 210), -1);
      assert.equal(read(expected).metadata.resourceVersion, String(modRevision));
    }
  }
});

test("preserves integers that a double cannot represent", () => {
  const text = '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a"},"big":9007199254740993}';
  assert.match(Buffer.from(codec.write(codec.read(entry(text)))).toString(), /"big":9007199254740993/);
});
