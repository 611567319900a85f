import { suite, test } from "node:test";
import { StepCounter } from "../../../../test/support/steps.ts";
import type { Json } from "../../../base/api/object.ts";
import type { Schema } from "../schema.ts";
import { Correlated } from "./correlate.ts";
import { applyDefaults } from "./default.ts";
import { validateListTypes } from "./list-types.ts";
import { validateBySchema, validateUpdateBySchema } from "./validate.ts";

const counter = new StepCounter();

/** Members of a schema that no validation of a value reads. */
type Unread =
  | "component"
  | "declared"
  | "description"
  | "embeddedResource"
  | "example"
  | "externalDocs"
  | "groupVersionKinds"
  | "mapType"
  | "patchMergeKey"
  | "patchStrategy"
  | "preserveUnknownFields"
  | "proto"
  | "title"
  | "unions"
  | "uniqueItems"
  | "validations"
  | "wire"
  | "zero";

type Keyword = Exclude<keyof Schema, Unread>;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const names = (count: number) => times(count, (at) => `name-${at}`);
const objects = (count: number) => times(count, () => ({}));
const members = (count: number) => Object.fromEntries(names(count).map((name) => [name, name]));
const text = (count: number) => "a".repeat(count);
const numbers: Json = [1, 2.5];

/** Checks a value against as many alternatives as its size, so that the work is the product of both. */
const often = (schema: Schema, value: Json): readonly [Schema, Json] => [
  {
    anyOf: times(Array.isArray(value) ? value.length : String(value).length, () => ({
      ...schema,
      maxLength: 0,
      maxItems: 0,
    })),
  },
  value,
];

/** For each keyword, a schema and a value that both grow with the size. A new keyword needs a row. */
const CASES: { readonly [K in Keyword]: (size: number) => readonly [Schema, Json] } = {
  type: (size) => [{ items: { type: "string" } }, times(size, () => 1)],
  format: (size) => often({ type: "string", format: "hostname" }, text(size)),
  nullable: (size) => [{ items: { type: "string", nullable: true } }, times(size, () => null)],
  properties: (size) => [
    { items: { properties: new Map(names(size).map((name) => [name, { type: "string" }])) } },
    objects(size),
  ],
  required: (size) => [{ items: { required: names(size) } }, objects(size)],
  values: (size) =>
    often(
      { values: { type: "string" } },
      times(size, () => members(2)),
    ),
  forbidsOthers: (size) => [{ items: { forbidsOthers: true } }, times(size, () => members(10))],
  items: (size) => [{ items: { items: { type: "string" } } }, times(size, () => [1, 2])],
  enum: (size) => [{ items: { enum: names(size) } }, times(size, () => "other")],
  default: (size) => [
    { items: { properties: new Map(names(size).map((name) => [name, { type: "string", default: name }])) } },
    objects(size),
  ],
  listType: (size) => [{ listType: "set", items: { type: "string" } }, names(size)],
  listMapKeys: (size) => [
    { listType: "map", listMapKeys: names(size), items: {} },
    times(size, () => ({ "name-0": 1 })),
  ],
  intOrString: (size) => [{ items: { intOrString: true } }, times(size, () => true)],
  maximum: (size) => [{ items: { maximum: 0 } }, times(size, () => numbers).flat()],
  exclusiveMaximum: (size) => [{ items: { maximum: 1, exclusiveMaximum: true } }, times(size, () => 1)],
  minimum: (size) => [{ items: { minimum: 3 } }, times(size, () => numbers).flat()],
  exclusiveMinimum: (size) => [{ items: { minimum: 1, exclusiveMinimum: true } }, times(size, () => 1)],
  multipleOf: (size) => [{ items: { multipleOf: 2 } }, times(size, () => 1)],
  maxLength: (size) => often({ maxLength: 1 }, text(size)),
  minLength: (size) => often({ minLength: 100_000 }, text(size)),
  pattern: (size) => often({ pattern: "^(a|b)*c$" }, text(size)),
  maxItems: (size) => [{ items: { maxItems: 1 } }, times(size, () => [1, 2])],
  minItems: (size) => [{ items: { minItems: 3 } }, times(size, () => [1, 2])],
  maxProperties: (size) =>
    often(
      { maxProperties: 1 },
      times(size, () => members(2)),
    ),
  minProperties: (size) => [{ allOf: times(size, () => ({ minProperties: 100_000 })) }, members(size)],
  allOf: (size) => [{ items: { allOf: times(size, () => ({ type: "string" })) } }, times(size, () => 1)],
  anyOf: (size) => [{ items: { anyOf: times(size, () => ({ type: "string" })) } }, times(size, () => 1)],
  oneOf: (size) => [{ items: { oneOf: times(size, () => ({ type: "string" })) } }, times(size, () => 1)],
  not: (size) => [{ items: { not: { not: { not: { type: "integer" } } } } }, times(size, () => 1)],
};

const SIZE = 100;

suite("a schema is charged for the work that it causes:", () => {
  for (const [keyword, make] of Object.entries(CASES)) {
    test(keyword, () => {
      const inputs = new Map([SIZE, 4 * SIZE].map((size) => [size, make(size)]));
      const input = (size: number) => inputs.get(size) ?? make(size);
      const assertCharged = (what: string, run: Parameters<StepCounter["assertCharged"]>[0]) =>
        counter.assertCharged(run, SIZE, what);
      assertCharged("validation", (size, meter) => {
        const [schema, value] = input(size);
        validateBySchema(schema, value, "", meter);
      });
      assertCharged("validation of an update", (size, meter) => {
        const [schema, value] = input(size);
        validateUpdateBySchema(new Correlated(value, structuredClone(value), schema, meter), schema, "", meter);
      });
      assertCharged("list types", (size, meter) => {
        const [schema, value] = input(size);
        validateListTypes(schema, value, "", meter);
      });
      assertCharged("defaults", (size, meter) => {
        const [schema, value] = input(size);
        applyDefaults(structuredClone(value), schema, meter);
      });
    });
  }
});
