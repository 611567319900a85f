import assert from "node:assert/strict";
import { test } from "node:test";
import { structuralSchema } from "../../data/schema/structural-schema.ts";
import type { Entry } from "../../storage/store.ts";
import { type ServedResource, serve } from "../model/catalog.ts";
import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { withObjectMembers } from "../strategies/object-members.ts";
import { ViewCache } from "./view-cache.ts";

const codec = new ObjectCodec();
const version = { name: "v1", schemaName: "Thing", schema: () => ({}) } as unknown as ServedVersion;
const newer = { ...version, name: "v2" };
const definition = {
  group: "example.com",
  kind: "Thing",
  reading: "typed",
  versions: [version, newer],
  subresources: {},
  rules: {},
} as unknown as ResourceDefinition;
const resource: ServedResource = serve(definition, version);
const other: ServedResource = serve(definition, newer);

function entry(name: string): Entry {
  const value = Buffer.from(`{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"${name}"}}`);
  return { key: `/registry/things/${name}`, value, createRevision: 1, modRevision: 7 };
}

test("caches forms of objects and evicts the oldest", () => {
  const views = new ViewCache(codec, 2);
  const [first, second, third] = [entry("a"), entry("b"), entry("c")];
  const { encodings } = views.view(resource, first);
  assert.equal(views.view(resource, first).encodings, encodings);
  views.view(resource, second).encodings.set("x", Buffer.from("y"));
  assert.equal(views.view(resource, second).encodings.size, 1);
  void views.view(resource, third).object;
  assert.notEqual(views.view(resource, first).encodings, encodings);
});

test("copying stored bytes does not use the cache", () => {
  const views = new ViewCache(codec, 1);
  const [decoded, copied] = [entry("a"), entry("b")];
  const { object } = views.view(resource, decoded);
  const target = Buffer.alloc(1000);
  views.view(resource, copied).writeItem(target, 0);
  views.view(resource, copied).json();
  assert.equal(views.view(resource, decoded).object, object);
});

test("two versions of a kind do not evict each other", () => {
  const views = new ViewCache(codec);
  const shared = entry("a");
  const objects = [resource, other].map((one) => views.view(one, shared).object);
  const selectable = [resource, other].map((one) => views.of(one).selectable(shared));
  assert.deepEqual(
    objects.map(({ apiVersion }) => apiVersion),
    ["example.com/v1", "example.com/v2"],
  );
  for (const [index, one] of [resource, other].entries()) {
    assert.equal(views.view(one, shared).object, objects[index]);
    assert.equal(views.of(one).selectable(shared), selectable[index]);
  }
});

test("two control planes over the same entries do not evict each other", () => {
  const [one, two] = [new ViewCache(codec, 1), new ViewCache(codec, 1)];
  const shared = entry("a");
  const encodings = [one.view(resource, shared).encodings, two.view(resource, shared).encodings];
  assert.notEqual(encodings[0], encodings[1]);
  assert.equal(one.view(resource, shared).encodings, encodings[0]);
  assert.equal(two.view(resource, shared).encodings, encodings[1]);
  void two.view(resource, entry("b")).object;
  assert.equal(one.view(resource, shared).encodings, encodings[0]);
});

test("values for selectors outlive the decoded object", () => {
  const views = new ViewCache(codec, 1);
  const first = entry("a");
  const selectable = views.of(resource).selectable(first);
  void views.view(resource, entry("b")).object;
  assert.equal(views.of(resource).selectable(first), selectable);
});

test("watchers of one version with one selection share the events of a batch", () => {
  const views = new ViewCache(codec);
  const batch = { events: [], revision: 1 };
  let translations = 0;
  const translate = () => {
    translations += 1;
    return [];
  };
  const first = views.of(resource).events(batch, "", translate);
  assert.equal(views.of(resource).events(batch, "", translate), first);
  views.of(other).events(batch, "", translate);
  views.of(resource).events(batch, "app=web", translate);
  assert.equal(translations, 3);
});

test("evicts forms of objects above the byte limit", () => {
  const one = entry("a");
  const views = new ViewCache(codec, 100, one.value.length * 2);
  const { encodings } = views.view(resource, one);
  void views.view(resource, entry("b")).object;
  assert.equal(views.view(resource, one).encodings, encodings);
  void views.view(resource, entry("c")).object;
  assert.notEqual(views.view(resource, one).encodings, encodings);
  assert.equal(views.usage.entries, 2);
});

test("copies a custom object that its schema leaves unchanged, with its kind in lists; reprints others", () => {
  const schema = withObjectMembers(
    structuralSchema({
      type: "object",
      properties: { size: { type: "integer" }, mode: { type: "string", default: "A" } },
    }),
    { type: "object", properties: new Map([["name", { type: "string" }]]) },
  );
  const only = { ...version, schema: () => schema };
  const custom = serve({ ...definition, reading: "structural", versions: [only] }, only);
  const views = new ViewCache(codec);
  const stored = (rest: string) => {
    const text = `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a","generation":1}${rest}}`;
    return { ...entry("a"), value: Buffer.from(text) };
  };
  const shown = (one: Entry) => {
    const view = views.view(custom, one);
    const target = Buffer.alloc(1000);
    const written = target.toString("utf8", 0, view.writeItem(target, 0));
    assert.equal(Buffer.from(view.itemJson()).toString(), written);
    assert.equal(view.itemSize(), written.length);
    return { isCopied: view.stored?.isCopied, item: JSON.parse(written) };
  };
  const head = { kind: "Thing", apiVersion: "example.com/v1" };
  const metadata = { name: "a", generation: 1, resourceVersion: "7" };
  const whole = { ...head, metadata, size: 1, mode: "B" };
  assert.deepEqual(shown(stored(',"size":1,"mode":"B"')), { isCopied: true, item: whole });
  assert.deepEqual(shown(stored(',"size":1,"mode":"B","old":true')), { isCopied: false, item: whole });
  assert.deepEqual(shown(stored(',"size":1')), { isCopied: false, item: { ...whole, mode: "A" } });
});
