import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { boundedErrors, MAX_ERRORS, printFieldError } from "../../../base/api/field-error.ts";
import type { Json } from "../../../base/api/object.ts";
import type { Schema } from "../schema.ts";
import { Correlated } from "./correlate.ts";
import { validateBySchema, validateUpdateBySchema } from "./validate.ts";

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties: new Map(Object.entries(properties)),
  ...more,
});
const integer: Schema = { type: "integer" };
const string: Schema = { type: "string" };

const errorsOf = (schema: Schema, value: Json) => validateBySchema(schema, value).map(printFieldError);
const errorsOfField = (schema: Schema, value: Json) => errorsOf(object({ f: schema }), { f: value });

const CASES: readonly (readonly [schema: Schema, value: Json, errors: readonly string[]])[] = [
  [integer, "x", ['f: Invalid value: "string": f in body must be of type integer: "string"']],
  [string, null, ['f: Invalid value: "null": f in body must be of type string: "null"']],
  [{ ...string, nullable: true }, null, []],
  [integer, 1.0000000001, ['<nil>: Invalid value: "": Checked value must be of type integer (default format) in f']],
  [
    integer,
    1.5,
    [
      'f: Invalid value: "number": f in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
    ],
  ],
  [{ ...integer, maximum: 10 }, 11, ["f: Invalid value: 11: f in body should be less than or equal to 10"]],
  [{ ...integer, minimum: 1, exclusiveMinimum: true }, 1, ["f: Invalid value: 1: f in body should be greater than 1"]],
  [
    { type: "number", maximum: 1_000_000 },
    1234567.8,
    ["f: Invalid value: 1.2345678e+06: f in body should be less than or equal to 1e+06"],
  ],
  [{ type: "number", multipleOf: 0.5 }, 0.7, ["f: Invalid value: 0.7: f in body should be a multiple of 0.5"]],
  [{ ...string, maxLength: 2 }, "äöü", ["f: Too long: may not be more than 2 bytes"]],
  [{ ...string, maxLength: 2 }, "😀😀", []],
  [{ ...string, minLength: 3 }, "😀😀", ['f: Invalid value: "😀😀": f in body should be at least 3 chars long']],
  [{ ...string, pattern: "^a+$" }, "b", [`f: Invalid value: "b": f in body should match '^a+$'`]],
  [{ ...string, enum: ["a", "b"] }, "c", ['f: Unsupported value: "c": supported values: "a", "b"']],
  [{ ...string, nullable: true, enum: ["a"] }, null, ['f: Unsupported value: null: supported values: "a"']],
  [{ type: "number", enum: [1] }, 1.5, []],
  [
    { type: "array", items: integer, maxItems: 1 },
    [1, "x"],
    [
      'f[1]: Invalid value: "string": f[1] in body must be of type integer: "string"',
      "f: Too many: 2: must have at most 1 item",
    ],
  ],
  [{ type: "array", minItems: 1 }, [], ["f: Invalid value: 0: f in body should have at least 1 items"]],
  [{ type: "object", values: integer, maxProperties: 1 }, { a: 1, b: 2 }, ["f: Too many: 2: must have at most 1 item"]],
  [object({}, { required: ["a"] }), {}, ["f.a: Required value"]],
  [
    { type: "object", forbidsOthers: true },
    { a: 1, b: {} },
    [
      'f: Invalid value: "a": f.a in body is a forbidden property',
      'f: Invalid value: "b": f.b in body is a forbidden property',
    ],
  ],
  [{ intOrString: true }, true, ['f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"']],
  [
    { ...string, format: "date-time" },
    "tomorrow",
    ['f: Invalid value: "tomorrow": f in body must be of type date-time: "tomorrow"'],
  ],
  [{ ...string, format: "of-no-one" }, "x", []],
  [
    object({}, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    {},
    [
      '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid',
      "f.a: Required value",
    ],
  ],
  [
    object({}, { anyOf: [{ required: ["a"] }, { minProperties: 1 }] }),
    {},
    ['<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)', "f.a: Required value"],
  ],
  [{ ...integer, not: { enum: [1] } }, 1, ['<nil>: Invalid value: "": "f" must not validate the schema (not)']],
  [
    { ...integer, allOf: [{ minimum: 3 }, { maximum: 5 }] },
    1,
    [
      "f: Invalid value: 1: f in body should be greater than or equal to 3",
      '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
    ],
  ],
];

suite("validating by a schema", () => {
  for (const [schema, value, errors] of CASES) {
    test(`${JSON.stringify({ ...schema, properties: undefined })}: ${JSON.stringify(value)}`, () => {
      assert.deepEqual(errorsOfField(schema, value), errors);
    });
  }

  test("reports errors of the root as <nil>, and its fields without a dot", () => {
    assert.deepEqual(errorsOf(object({}, { required: ["spec"], minProperties: 1 }), {}), [
      "<nil>: Invalid value: 0:  in body should have at least 1 properties",
      "spec: Required value",
    ]);
    const status = validateBySchema(object({ phase: string }), { phase: 1 }, "status").map(printFieldError);
    assert.deepEqual(status, [
      'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"',
    ]);
  });

  test("treats names such as constructor as ordinary members", () => {
    assert.deepEqual(errorsOf(object({}, { required: ["constructor"] }), {}), ["constructor: Required value"]);
  });

  test("reports only the first errors of a million wrong items", () => {
    const list = Array.from({ length: 300_000 }, () => 1);
    const errors = boundedErrors(() => validateBySchema({ type: "array", items: string }, list));
    assert.equal(errors.length, MAX_ERRORS);
  });
});

suite("validating a change", () => {
  const schema = object({
    spec: object({
      size: { ...integer, maximum: 10 },
      other: integer,
      map: {
        type: "array",
        listType: "map",
        listMapKeys: ["name"],
        items: object({ name: string, size: { ...integer, maximum: 10 } }),
      },
      list: { type: "array", items: { ...integer, maximum: 10 } },
      free: object({ size: { ...integer, maximum: 10 } }, { preserveUnknownFields: true, required: ["a"] }),
    }),
  });
  const changed = (next: Json, old: Json) =>
    validateUpdateBySchema(new Correlated({ spec: next }, { spec: old }, schema), schema).map(({ field }) => field);

  test("does not report errors in unchanged parts", () => {
    assert.deepEqual(changed({ size: 99, other: 2 }, { size: 99, other: 1 }), []);
    assert.deepEqual(changed({ size: 98 }, { size: 99 }), ["spec.size"]);
    assert.deepEqual(changed({ size: 99 }, {}), ["spec.size"]);
  });

  test("correlates items by their keys, and lists of other types as a whole", () => {
    const item = { name: "a", size: 99 };
    assert.deepEqual(changed({ map: [{ name: "b", size: 1 }, item] }, { map: [item] }), []);
    assert.deepEqual(changed({ map: [{ name: "c", size: 99 }] }, { map: [item] }), ["spec.map[0].size"]);
    assert.deepEqual(changed({ list: [99], other: 1 }, { list: [99] }), []);
    assert.deepEqual(changed({ list: [99, 1] }, { list: [99] }), ["spec.list[0]"]);
  });

  test("an object with a member without a schema never counts as unchanged", () => {
    assert.deepEqual(changed({ free: { x: 1 } }, { free: { x: 1 } }), ["spec.free.a"]);
    assert.deepEqual(changed({ free: { size: 99 } }, { free: { size: 99 } }), []);
  });
});
