import type { Json, JsonObject } from "../../src/base/api/object.ts";
import type { Random } from "./random.ts";

const FORMATS =
  "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte password date duration date-time datetime k8s-short-name k8s-long-name int32 nonsense".split(
    " ",
  );
const PATTERNS = ["^[a-z]+$", "a", "^$", "^(foo|bar)-[0-9]{1,3}$", "(?i)abc", "\\d", "^.{2,4}$", "é|ß", "[[:upper:]]"];
export const NAMES: readonly string[] = ["a", "b", "c", "name", "kind", "metadata", "x-y", "constructor", "size"];

/** Random structural schemas with all keywords and extensions; some of them are broken. */
export class SchemaMaker {
  readonly #random: Random;
  /** How often something that must not be is put in. */
  readonly #brokenness: number;

  constructor(random: Random, brokenness: number) {
    this.#random = random;
    this.#brokenness = brokenness;
  }

  /** `openAPIV3Schema` of a version. */
  root(): JsonObject {
    const random = this.#random;
    const schema: JsonObject = {
      type: "object",
      properties: { spec: this.#node(3), status: this.#object(2) },
    };
    const properties = schema.properties as Record<string, Json>;
    if (random.chance(0.1)) schema["x-kubernetes-preserve-unknown-fields"] = true;
    if (random.chance(0.3)) schema.required = [random.pick(["spec", "metadata"])];
    if (random.chance(0.15)) {
      properties.metadata = {
        type: "object",
        properties: { name: { type: "string", ...random.pick([{ maxLength: 5 }, { pattern: "^[a-e]" }]) } },
      };
    }
    if (random.chance(0.2)) properties.more = this.#node(1);
    if (random.chance(this.#brokenness)) this.#break(schema);
    return schema;
  }

  #node(depth: number): JsonObject {
    const random = this.#random;
    const kinds =
      depth <= 0
        ? ["string", "integer", "number", "boolean", "intOrString"]
        : [
            "object",
            "object",
            "array",
            "array",
            "map",
            "string",
            "integer",
            "number",
            "boolean",
            "intOrString",
            "free",
            "embedded",
          ];
    const schema = this.#ofKind(random.pick(kinds), depth);
    if (random.chance(0.1)) schema.nullable = true;
    if (random.chance(this.#brokenness / 4)) this.#break(schema);
    return schema;
  }

  #ofKind(kind: string, depth: number): JsonObject {
    switch (kind) {
      case "string":
        return this.#withJunctors(this.#string(), () => this.#stringChecks(0.4));
      case "integer":
      case "number":
        return this.#withJunctors(this.#number(kind), () => this.#numberChecks(0.4));
      case "boolean":
        return this.#withDefault({ type: "boolean" }, [true, false]);
      case "intOrString":
        return this.#withDefault({ "x-kubernetes-int-or-string": true }, [1, "50%"]);
      case "array":
        return this.#array(depth);
      case "map":
        return this.#map(depth);
      case "free":
        return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      case "embedded":
        return {
          ...this.#object(depth - 1),
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        };
      default:
        return this.#object(depth);
    }
  }

  #string(): JsonObject {
    const random = this.#random;
    const schema: JsonObject = { type: "string", ...this.#stringChecks(0.15) };
    if (random.chance(0.25)) schema.format = random.pick(FORMATS);
    if (random.chance(0.15)) schema.enum = ["a", "b", "foo-1"];
    return this.#withDefault(schema, ["a", "foo-1", ""]);
  }

  #stringChecks(probability: number): JsonObject {
    const random = this.#random;
    return {
      ...(random.chance(probability) && { maxLength: random.below(5) }),
      ...(random.chance(probability) && { minLength: random.below(3) }),
      ...(random.chance(probability) && { pattern: random.pick(PATTERNS) }),
    };
  }

  #number(type: string): JsonObject {
    const random = this.#random;
    const schema: JsonObject = { type, ...this.#numberChecks(0.15) };
    if (random.chance(0.2)) schema.format = random.pick(["int32", "int64", "float", "double", "date"]);
    if (random.chance(0.1)) schema.enum = [1, 2, 5];
    return this.#withDefault(schema, [1, 2]);
  }

  #numberChecks(probability: number): JsonObject {
    const random = this.#random;
    const limit = () => random.pick([-1, 0, 1, 2, 10, 2.5, 1_000_000]);
    return {
      ...(random.chance(probability) && { maximum: limit(), ...(random.chance(0.3) && { exclusiveMaximum: true }) }),
      ...(random.chance(probability) && { minimum: limit(), ...(random.chance(0.3) && { exclusiveMinimum: true }) }),
      ...(random.chance(probability / 2) && { multipleOf: random.pick([1, 2, 0.5, 3]) }),
    };
  }

  #object(depth: number): JsonObject {
    const random = this.#random;
    const properties: Record<string, JsonObject> = {};
    for (let count = 1 + random.below(4); count > 0; count--) properties[random.pick(NAMES)] = this.#node(depth - 1);
    const names = Object.keys(properties);
    const schema: JsonObject = { type: "object", properties };
    if (random.chance(0.25)) schema.required = [random.pick(names)];
    if (random.chance(0.08)) schema.minProperties = 1;
    if (random.chance(0.08)) schema.maxProperties = 2;
    if (random.chance(0.1)) schema["x-kubernetes-preserve-unknown-fields"] = true;
    if (random.chance(0.1)) schema["x-kubernetes-map-type"] = random.pick(["atomic", "granular"]);
    if (random.chance(0.15)) schema.default = {};
    return this.#withJunctors(schema, () => ({ required: [random.pick(names)] }));
  }

  #map(depth: number): JsonObject {
    const random = this.#random;
    const schema: JsonObject = {
      type: "object",
      additionalProperties: random.chance(0.05) ? true : this.#node(depth - 1),
    };
    if (random.chance(0.15)) schema.maxProperties = 2;
    if (random.chance(0.1)) schema["x-kubernetes-map-type"] = random.pick(["atomic", "granular"]);
    return schema;
  }

  #array(depth: number): JsonObject {
    const random = this.#random;
    const limits = {
      ...(random.chance(0.15) && { maxItems: 2 }),
      ...(random.chance(0.15) && { minItems: 1 }),
    };
    switch (random.below(5)) {
      case 0:
        return {
          type: "array",
          "x-kubernetes-list-type": "set",
          items: { type: random.pick(["string", "integer"]) },
          ...limits,
        };
      case 1:
        return { type: "array", ...this.#mapList(depth), ...limits };
      case 2:
        return { type: "array", "x-kubernetes-list-type": "atomic", items: this.#node(depth - 1), ...limits };
      default:
        return { type: "array", items: this.#node(depth - 1), ...limits };
    }
  }

  #mapList(depth: number): JsonObject {
    const random = this.#random;
    const items = this.#object(depth - 1);
    const keys = random.chance(0.3) ? ["key", "port"] : ["key"];
    const { nullable: _, default: _default, allOf: _all, anyOf: _any, oneOf: _one, not: _not, ...rest } = items;
    const properties: JsonObject = { ...(rest.properties as JsonObject), key: { type: "string" } };
    if (keys.length > 1) properties.port = random.chance(0.5) ? { type: "integer", default: 80 } : { type: "integer" };
    const required = keys.filter((key) => !(properties[key] as JsonObject).default);
    return {
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": keys,
      items: { ...rest, properties, required },
    };
  }

  #withDefault(schema: JsonObject, values: readonly Json[]): JsonObject {
    if (this.#random.chance(0.12)) schema.default = this.#random.pick(values);
    return schema;
  }

  #withJunctors(schema: JsonObject, part: () => JsonObject): JsonObject {
    const random = this.#random;
    if (random.chance(0.06)) schema.allOf = [part(), part()];
    if (random.chance(0.06)) schema.anyOf = [part(), part()];
    if (random.chance(0.06)) schema.oneOf = [part(), part()];
    if (random.chance(0.04)) schema.not = part();
    return schema;
  }

  #break(schema: JsonObject): void {
    const random = this.#random;
    const breaks: JsonObject[] = [
      { type: random.pick(["null", "date", "", "array"]) },
      { uniqueItems: true },
      { items: { type: "string" } },
      { additionalProperties: false },
      { additionalProperties: { type: "string" } },
      { $ref: "#/definitions/x" },
      { default: random.pick<Json>([1, "x", { unknown: 1 }, [], true]) },
      { "x-kubernetes-list-type": random.pick(["set", "map", "odd"]) },
      { "x-kubernetes-list-map-keys": ["a"] },
      { "x-kubernetes-map-type": "odd" },
      { "x-kubernetes-int-or-string": true },
      { "x-kubernetes-preserve-unknown-fields": false },
      { "x-kubernetes-embedded-resource": true },
      { pattern: "(" },
      { required: ["a", "a"] },
      { enum: [] },
      { nullable: true },
      { allOf: [{ type: "string" }] },
      { anyOf: [{ default: 1 }] },
      { oneOf: [{ properties: { zz: { maximum: 1 } } }] },
      { not: { nullable: true } },
      { maxLength: -1 },
      { properties: { "": { type: "string" } } },
      { dependencies: { a: ["b"] } },
      { id: "x" },
      { title: "t", description: "d", example: 1, externalDocs: { url: "http://x" } },
    ];
    Object.assign(schema, random.pick(breaks));
  }
}
