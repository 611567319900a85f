import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { NAMES } from "./crd-schemas.ts";
import type { Random } from "./random.ts";

const TEXTS = [
  "", "a", "b", "abc", "ABC", "foo-1", "bar-999", "äöü", "😀", "1", "true", "1.2.3.4", "::1", "10.0.0.0/8", "a@b.c",
  "http://x/y", "/p", "example.com", "2024-02-29", "2024-01-01T00:00:00Z", "1h30m", "3 days", "YQ==", "#fff",
  "00:00:5e:00:53:01", "7b4e1c7a-0000-4000-8000-000000000000", "0321751043", "4111111111111111", "507f1f77bcf86cd799439011",
  "rgb(1,2,3)", "111-11-1111", "x".repeat(70), "a\"b", "<&>",
]; // biome-ignore format: a table
const NUMBERS = [0, 1, 2, 3, 5, 10, -1, 11, 100, 1_000_000, 2_147_483_648, 9_007_199_254_740_991, -5];
const FLOATS = [0.5, 1.5, 2.5, -0.7, 1234567.8, 0.00001, 1e300];

/** Random values for a schema: mostly right, sometimes not. */
export class ValueMaker {
  readonly #random: Random;
  readonly #wrongness: number;

  constructor(random: Random, wrongness: number) {
    this.#random = random;
    this.#wrongness = wrongness;
  }

  /** A value for a node of a schema. */
  of(schema: JsonObject, depth = 5): Json {
    const random = this.#random;
    if (random.chance(this.#wrongness)) return this.any(1);
    if (schema.nullable === true && random.chance(0.2)) return null;
    if (Array.isArray(schema.enum) && schema.enum.length > 0 && random.chance(0.7)) return random.pick(schema.enum);
    switch (schema.type) {
      case "string":
        return random.pick(TEXTS);
      case "integer":
        return random.pick(NUMBERS);
      case "number":
        return random.pick([...NUMBERS, ...FLOATS]);
      case "boolean":
        return random.chance(0.5);
      case "array":
        return random.some(3, () => this.of(isObject(schema.items) ? schema.items : {}, depth - 1));
      case "object":
        return this.#object(schema, depth);
      default:
        return schema["x-kubernetes-int-or-string"] === true ? random.pick<Json>([1, "1", "50%"]) : this.any(1);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const random = this.#random;
    const object: JsonObject = {};
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const [name, property] of Object.entries(properties)) {
      if (!random.chance(required.includes(name) ? 0.95 : 0.6)) continue;
      object[name] = this.of(property as JsonObject, depth - 1);
    }
    const { additionalProperties } = schema;
    if (additionalProperties !== undefined) {
      for (let count = random.below(3); count > 0; count--) {
        object[random.pick(NAMES)] = isObject(additionalProperties)
          ? this.of(additionalProperties, depth - 1)
          : this.any(1);
      }
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] === true && random.chance(0.5)) object.free = this.any(2);
    if (schema["x-kubernetes-embedded-resource"] === true) this.#embed(object);
    if (random.chance(this.#wrongness)) object[random.pick(["unknown", "zz", "apiVersion"])] = this.any(1);
    return object;
  }

  #embed(object: JsonObject): void {
    const random = this.#random;
    if (random.chance(0.9)) object.apiVersion = random.pick(["v1", "apps/v1", "v1", "a/b/c", ""]);
    if (random.chance(0.9)) object.kind = random.pick(["Pod", "Pod", "odd kind", ""]);
    if (!random.chance(0.7)) return;
    object.metadata = random.pick<Json>([
      { name: "x" },
      { name: "x", labels: { a: "b" }, creationTimestamp: null },
      { name: "x/y" },
      { generateName: "x-", namespace: "Odd" },
      { labels: { "a b": "c" } },
      { name: "x", unknown: 1 },
    ]);
  }

  /** Anything. */
  any(depth: number): Json {
    const random = this.#random;
    switch (random.below(depth > 0 ? 8 : 5)) {
      case 0:
        return null;
      case 1:
        return random.chance(0.5);
      case 2:
        return random.pick(NUMBERS);
      case 3:
        return random.pick(FLOATS);
      case 4:
      case 5:
        return random.pick(TEXTS);
      case 6:
        return random.some(2, () => this.any(depth - 1));
      default:
        return { [random.pick(NAMES)]: this.any(depth - 1) };
    }
  }
}
