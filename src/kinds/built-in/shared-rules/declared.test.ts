import assert from "node:assert/strict";
import { test } from "node:test";
import { printFieldError } from "../../../base/api/field-error.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { type DeclaredRules, declared } from "./declared.ts";

const text: Schema = { type: "string", zero: "omitted" };
const pointer: Schema = { type: "string" };
const item: Schema = {
  component: "x.Item",
  type: "object",
  properties: new Map<string, Schema>([
    ["name", { ...text, zero: "written" }],
    ["count", { type: "integer", zero: "omitted" }],
  ]),
};
const schema: Schema = {
  component: "x.Thing",
  properties: new Map<string, Schema>([
    ["one", pointer],
    ["other", pointer],
    ["name", text],
    ["items", { type: "array", items: item, zero: "omitted" }],
    ["tags", { type: "array", items: { type: "string" }, zero: "omitted" }],
    ["mode", { ...text, enum: ["B", "A"] }],
    ["map", { type: "object", values: item, zero: "omitted" }],
  ]),
};
const rules: DeclaredRules = {
  Thing: {
    union: ["one", "other"],
    fields: {
      one: { immutable: true },
      other: { no: ["set", "unset"] },
      name: { required: true, immutable: true, format: "short-name", maxBytes: 5 },
      items: { keys: ["name"], maxItems: 2, no: ["add-item"] },
      tags: { isSet: true },
      mode: { closed: true },
    },
  },
  Item: { fields: { name: { required: true }, count: { minimum: 1, maximum: 3 } } },
};
const check = declared(rules);
const problems = (next: JsonObject, previous?: JsonObject) => check(schema, next, previous).map(printFieldError);
const good: JsonObject = { one: "x", name: "a" };

test("checks the rules of a schema's fields in the order of the fields", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [{ one: null }, ['Invalid value: "": must specify one of: `one`, `other`'].map((line) => `: ${line}`)],
    [{ other: "" }, [': Invalid value: "{one, other}": must specify exactly one of: `one`, `other`']],
    [{ name: "" }, ["name: Required value"]],
    [
      { name: "a.bcdef" },
      ['name: Invalid value: "a.bcdef": must not contain dots', "name: Too long: may not be more than 5 bytes"],
    ],
    [
      { items: [{ count: 4, name: "a" }, { name: "a" }] },
      ['items[1]: Duplicate value: {"name":"a"}', "items[0].count: Invalid value: 4: must be less than or equal to 3"],
    ],
    [{ items: [{ name: "" }] }, ["items[0].name: Required value"]],
    [{ items: [{ name: "a" }, { name: "b" }, { name: "" }] }, ["items: Too many: 3: must have at most 2 items"]],
    [{ tags: ["a", "b", "a"] }, ['tags[2]: Duplicate value: "a"']],
    [{ mode: "C" }, ['mode: Unsupported value: "C": supported values: "A", "B"']],
    [{ map: { k: { name: "a", count: -1 } } }, ["map[k].count: Invalid value: -1: must be greater than or equal to 1"]],
  ];
  for (const [change, expected] of rows) assert.deepEqual(problems({ ...good, ...change }), expected);
});

test("only checks what an update changes", () => {
  const bad = { ...good, mode: "C", items: [{ name: "a", count: 9 }] };
  assert.deepEqual(problems(bad, bad), [], "what was there stays");
  assert.deepEqual(problems({ ...bad, items: [{ name: "a", count: 8 }] }, bad), [
    "items[0].count: Invalid value: 8: must be less than or equal to 3",
  ]);
  assert.deepEqual(problems({ one: "y", name: "" }, good), [
    "one: Invalid value: null: field is immutable",
    "name: Required value",
    "name: Invalid value: null: field is immutable",
  ]);
  assert.deepEqual(problems({ name: "a", other: "x" }, { name: "a" }), [
    "other: Invalid value: null: field cannot be set once created",
  ]);
  assert.deepEqual(problems({ ...bad, items: [{ name: "a", count: 9 }, { name: "b" }] }, bad), [
    "items[1]: Forbidden: item may not be added",
  ]);
});
