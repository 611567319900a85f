import { fc } from "../../../test/support/random.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { decodeBySchema } from "../../data/schema/decode.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { builtInSchema } from "../schema-files/built-in-schemas.ts";

const NAME = fc.constantFrom("a", "b", "example.com/c", "d.example.com");
const WIRE: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  quantity: fc.constantFrom("1", "1500m", "2Gi"),
  time: fc.constant("2024-01-02T03:04:05Z"),
  "micro-time": fc.constant("2024-01-02T03:04:05.000006Z"),
  "int-or-string": fc.constantFrom<Json>(80, "http"),
  "raw-json": fc.constantFrom<Json>({ a: 1 }, { b: [true] }),
};

function randomOf(schema: Schema, depth: number): fc.Arbitrary<Json> {
  const { wire, properties, items, values } = schema;
  if (wire !== undefined) return WIRE[wire] ?? fc.constant({});
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (properties) return membersOf(properties, schema.required ?? [], depth);
  if (schema.type === "array") {
    return fc.array(items ? randomOf(items, depth - 1) : NAME, { maxLength: depth > 0 ? 2 : 0 });
  }
  if (values !== undefined && values !== true) {
    return fc.dictionary(NAME, randomOf(values, depth - 1), { maxKeys: depth > 0 ? 2 : 0 });
  }
  if (schema.type === "integer") return fc.integer({ min: 0, max: 3 });
  if (schema.type === "boolean") return fc.boolean();
  return schema.type === "string" ? NAME : fc.constant({});
}

function membersOf(properties: ReadonlyMap<string, Schema>, required: readonly string[], depth: number) {
  const model: Record<string, fc.Arbitrary<Json>> = {};
  for (const [name, field] of properties) {
    const isLeaf = field.properties === undefined && field.items === undefined;
    if (depth > 0 || isLeaf || required.includes(name)) model[name] = randomOf(field, depth - 1);
  }
  return fc.record(model, { requiredKeys: [...required] }) as fc.Arbitrary<JsonObject>;
}

/**
 * Random objects of a built-in kind in a version, after decoding: they have their schema's types, but need not be
 * valid. `tidy` may change an object before it is decoded, to remove what no valid object has.
 */
export function objectsOf(
  component: string,
  apiVersion: string,
  tidy: (object: JsonObject) => void = () => undefined,
): fc.Arbitrary<KubeObject> {
  const schema = builtInSchema(component);
  const kind = component.slice(component.lastIndexOf(".") + 1);
  const parts = new Map(
    [...(schema.properties ?? [])].filter(([name]) => !["metadata", "kind", "apiVersion"].includes(name)),
  );
  return membersOf(parts, schema.required ?? [], 7).map((members) => {
    const object = { ...structuredClone(members), kind, apiVersion, metadata: { name: "one" } };
    tidy(object);
    const { value, error } = decodeBySchema(object, schema);
    if (error !== undefined) throw new Error(error);
    return { ...value, kind, apiVersion, metadata: { name: "one" } } as KubeObject;
  });
}

/** Calls `change` for every object inside a value. */
export function eachObject(value: Json | undefined, change: (object: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) eachObject(item, change);
  if (!isObject(value)) return;
  for (const member of Object.values(value)) eachObject(member, change);
  change(value);
}
