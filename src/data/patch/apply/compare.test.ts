import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../../schema/schema.ts";
import { compare } from "./compare.ts";
import { describePath } from "./conflicts.ts";
import { type FieldSet, pathsOf } from "./field-set.ts";
import { merge } from "./merge.ts";
import { reconcile } from "./reconcile.ts";
import { removeItems } from "./remove.ts";
import { setOf } from "./set-of.ts";
import { shapeOf } from "./shape.ts";
import { TypedError, typedValue } from "./typed.ts";
import { requireShape } from "./validate.ts";

const text: Schema = { type: "string" };
const item: Schema = {
  type: "object",
  properties: new Map<string, Schema>([
    ["name", text],
    ["zone", { type: "string", default: "z" }],
    ["size", { type: "integer" }],
  ]),
};
const schema: Schema = {
  type: "object",
  properties: new Map<string, Schema>([
    ["text", text],
    ["flag", { type: "boolean" }],
    ["map", { type: "object", values: text }],
    ["whole", { type: "object", values: text, mapType: "atomic" }],
    ["struct", { type: "object", properties: new Map([["a", text]]) }],
    ["list", { type: "array", listType: "map", listMapKeys: ["name", "zone"], items: item }],
    ["set", { type: "array", listType: "set", items: text }],
    ["plain", { type: "array", items: text }],
    ["free", { type: "object", preserveUnknownFields: true }],
    ["none", { type: "object", preserveUnknownFields: true, forbidsOthers: true }],
    ["time", { type: "string", format: "date-time" }],
    ["any", {}],
  ]),
};
const shape = shapeOf(schema);
const show = (set: FieldSet): string[] => [...pathsOf(set)].map(describePath);
const named = (names: string): Json[] => [...names].map((name) => ({ name }));

suite("setOf", () => {
  test("contains leaves, items, map members and empty values", () => {
    const value: JsonObject = {
      text: "",
      map: { x: "1" },
      whole: { x: "1" },
      struct: { a: "1" },
      list: [{ name: "b" }, { name: "a", zone: "y" }],
      set: ["s"],
      plain: ["p"],
      free: { deep: { list: [1] }, none: {} },
      any: null,
    };
    assert.deepEqual(show(setOf(shape, value)), [
      ...[".any", ".plain", ".text", ".whole", ".free.deep", ".free.none", ".free.deep.list"],
      ...['.list[name="a",zone="y"]', '.list[name="b",zone="z"]'],
      ...['.list[name="a",zone="y"].name', '.list[name="a",zone="y"].zone', '.list[name="b",zone="z"].name'],
      ...[".map.x", '.set[="s"]', ".struct.a"],
    ]);
    assert.deepEqual(show(setOf(shape, { map: {}, struct: {}, list: [], set: null })), [".map", ".set", ".struct"]);
  });
});

suite("compare", () => {
  test("reports added, modified and removed fields", () => {
    const left: JsonObject = { text: "1", map: { a: "1", b: "1" }, set: ["x"], plain: ["1"], struct: {} };
    const right: JsonObject = { text: "2", map: { b: "1", c: "1" }, set: ["y", "x"], list: named("a"), struct: {} };
    const { added, modified, removed } = compare(shape, left, right);
    assert.deepEqual(show(added), [
      ".list",
      '.list[name="a",zone="z"]',
      '.list[name="a",zone="z"].name',
      ".map.c",
      '.set[="y"]',
    ]);
    assert.deepEqual(show(modified), [".text"]);
    assert.deepEqual(show(removed), [".plain", ".map.a"]);
  });

  test("distinguishes null, empty and omitted, and groups items with the same key", () => {
    assert.deepEqual(show(compare(shape, { map: {} }, { map: null }).modified), [".map"]);
    assert.deepEqual(show(compare(shape, {}, { map: {} }).added), [".map"]);
    const twice: JsonObject = { list: [{ name: "a" }, { name: "a", size: 1 }] };
    assert.deepEqual(show(compare(shape, {}, twice).added), [".list", '.list[name="a",zone="z"]']);
    assert.deepEqual(show(compare(shape, twice, { list: [{ name: "a" }, { name: "a" }] }).modified), [
      '.list[name="a",zone="z"]',
    ]);
    const once = compare(shape, twice, { list: named("a") });
    assert.deepEqual(show(once.added), ['.list[name="a",zone="z"]', '.list[name="a",zone="z"].name']);
    assert.deepEqual(show(once.removed), ['.list[name="a",zone="z"]']);
  });

  test("treats zero values like Go types do", () => {
    const typed: Schema = {
      type: "object",
      properties: new Map<string, Schema>([
        ["omitted", { type: "string", zero: "omitted" }],
        [
          "written",
          { type: "object", zero: "written", properties: new Map([["w", { type: "string", zero: "written" }]]) },
        ],
        ["pointer", { type: "integer", proto: { number: 1 } }],
      ]),
    };
    const left: JsonObject = {};
    const right: JsonObject = { omitted: "", pointer: null, written: { w: "1" } };
    const { added, modified } = compare(shapeOf(typed), left, right);
    assert.deepEqual([show(added), show(modified)], [[], [".written.w"]]);
    const raw = compare(shapeOf(typed), typedValue(shapeOf(typed), left) as JsonObject, right, { rightIsRaw: true });
    assert.deepEqual([show(raw.added), show(raw.modified)], [[".omitted", ".pointer"], [".written.w"]]);
  });

  test("rejects items without keys", () => {
    assert.throws(() => compare(shape, {}, { set: [{}] }), TypedError);
    assert.throws(() => compare(shape, {}, { list: [null] }), TypedError);
  });
});

suite("merge", () => {
  const orders: [live: string, applied: string, merged: string][] = [
    ["", "ab", "ab"],
    ["ab", "", "ab"],
    ["ab", "c", "abc"],
    ["abc", "ca", "bca"],
    ["ab", "xb", "axb"],
    ["abcd", "dxb", "acdxb"],
    ["abc", "bxay", "bcxay"],
  ];
  for (const [live, applied, merged] of orders) {
    test(`orders items: ${live} and ${applied} make ${merged}`, () => {
      const result = merge(shape, { list: named(live) }, { list: named(applied) });
      const names = Array.isArray(result.list) ? result.list.map((one) => (one as JsonObject).name) : [];
      assert.equal(names.join(""), merged);
    });
  }

  test("keeps fields that are not applied, and replaces leaves and atomic parts", () => {
    const live: JsonObject = {
      text: "1",
      map: { a: "1" },
      whole: { a: "1" },
      plain: ["1"],
      list: [{ name: "a", size: 1 }],
    };
    const applied: JsonObject = {
      text: null,
      map: { b: "2" },
      whole: { b: "2" },
      plain: [],
      list: [{ name: "a", zone: "z" }],
    };
    assert.deepEqual(merge(shape, live, applied), {
      text: null,
      map: { a: "1", b: "2" },
      whole: { b: "2" },
      plain: [],
      list: [{ name: "a", size: 1, zone: "z" }],
    });
  });

  test("does not change duplicate items, unless they are applied", () => {
    const live: JsonObject = { list: [{ name: "a", size: 1 }, { name: "a", size: 2 }, { name: "b" }] };
    assert.deepEqual(merge(shape, live, { list: [{ name: "b", size: 3 }] }).list, [
      { name: "a", size: 1 },
      { name: "a", size: 2 },
      { name: "b", size: 3 },
    ]);
    assert.deepEqual(merge(shape, live, { list: [{ name: "a", size: 3 }] }).list, [
      { name: "a", size: 3 },
      { name: "b" },
    ]);
  });
});

suite("removeItems", () => {
  test("removes fields and items, and replaces what becomes empty by null", () => {
    const value: JsonObject = { text: "1", map: { a: "1", b: "1" }, list: named("ab"), set: ["x"], plain: ["p"] };
    const gone = setOf(shape, { text: "", map: { a: "" }, list: named("a"), set: ["x"] });
    assert.deepEqual(removeItems(shape, value, gone), { map: { b: "1" }, list: named("b"), set: null, plain: ["p"] });
  });
});

suite("reconcile", () => {
  test("replaces paths below a value that has become atomic", () => {
    const old: FieldSet = { "f:map": { "f:a": {} }, "f:plain": { 'v:"x"': {} }, "f:whole": { ".": {}, "f:a": {} } };
    assert.deepEqual(reconcile(shape, old), { "f:map": { "f:a": {} }, "f:plain": {}, "f:whole": {} });
    const fine: FieldSet = { "f:whole": {}, "f:unknown": { "f:x": {} } };
    assert.equal(reconcile(shape, fine), fine);
  });
});

suite("requireShape", () => {
  const refusals: [body: JsonObject, text: string][] = [
    [{ nonsense: 1 }, ".nonsense: field not declared in schema"],
    [{ struct: { b: 1 } }, ".struct.b: field not declared in schema"],
    [{ none: { b: 1 } }, ".none.b: field not declared in schema"],
    [{ text: 1 }, ".text: expected string, got &value.valueUnstructured{Value:1}"],
    [
      { text: { a: [true, "x"] } },
      '.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{true, "x"}}}',
    ],
    [{ flag: "x" }, ".flag: expected boolean, got &{x}"],
    [{ map: "text" }, ".map: expected map, got &{text}"],
    [{ map: [1, 2.5] }, ".map: expected map, got &{[1 2.5]}"],
    [{ list: { b: 1, a: null } }, ".list: expected list, got &{map[a:<nil> b:1]}"],
    [
      { list: [{ name: "a", size: "x" }] },
      '.list[name="a",zone="z"].size: expected numeric (int or float), got string',
    ],
    [{ time: {} }, ".time: expected any scalar, got &{map[]}"],
    [{ list: [...named("a"), ...named("a")] }, '.list: duplicate entries for key [name="a",zone="z"]'],
    [{ set: ["x", "x"] }, '.set: duplicate entries for key [="x"]'],
    [{ set: [null] }, ".set: element 0: associative list without keys has an element that's an explicit null"],
    [
      { text: 1, flag: 1234567 },
      "errors:\n  .text: expected string, got &value.valueUnstructured{Value:1}\n  .flag: expected boolean, got &{1234567}",
    ],
  ];
  for (const [body, message] of refusals) {
    test(`rejects: ${message.slice(0, 60)}`, () => {
      assert.throws(() => requireShape(shape, body), { message });
    });
  }

  test("accepts nulls, unknown fields where allowed, and any value of an untyped field", () => {
    requireShape(shape, {
      text: null,
      list: null,
      free: { x: [{ y: 1 }] },
      any: [1],
      map: { k: "v" },
      plain: ["x", "x"],
    });
    requireShape(shape, { any: { deep: true } });
  });

  test("requires at least one key per item", () => {
    const root = shapeOf({
      type: "object",
      properties: new Map<string, Schema>([
        [
          "l",
          {
            type: "array",
            listType: "map",
            listMapKeys: ["a", "b"],
            items: {
              type: "object",
              properties: new Map([
                ["a", text],
                ["b", text],
              ]),
            },
          },
        ],
      ]),
    });
    assert.throws(() => requireShape(root, { l: [{}] }), {
      message:
        '.l: element 0: associative list with keys has an element that omits all key fields ["a" "b"] (and doesn\'t have default values for any key fields)',
    });
    requireShape(root, { l: [{ a: "1" }, { b: "1" }, { a: "1", b: "1" }] });
  });
});
