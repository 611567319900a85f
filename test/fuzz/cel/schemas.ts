import type { Json, JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";
import { type CelType, parseType } from "./types.ts";

/** A part of a random schema: its JSON, the type that expressions see, and its values. */
export interface Part {
  readonly schema: JsonObject;
  readonly type: CelType;
  value(random: Random): Json;
}

const TEXTS = [
  "",
  "a",
  "abc",
  "A b C",
  "héllo",
  "🎉x",
  "12",
  "1.5Gi",
  "my-name",
  "a,b,,c",
  "key",
  "1.2.3",
  "10.0.0.1",
  "10.0.0.0/8",
  "https://h.io/p?x=1",
  "-7",
  "true",
];
const INTEGERS = [0, 1, 2, 3, -1, 7, 10, 100, 2147483647, 9007199254740991];
const NUMBERS = [0, 1, 1.5, -2.5, 0.1, 1e21, 3];
const DURATIONS = ["1h", "90s", "1h30m5.5s", "0s", "-3m"];
const TIMES = ["2024-02-29T12:30:45Z", "1969-12-31T23:59:59.999Z", "2023-06-01T00:00:00+05:30"];
const DATES = ["2024-02-29", "1970-01-01"];
const BYTES = ["", "YWJj", "/wA=", "aMOp"];
const KEYS = ["a", "b", "key", "my-name", "héllo"];

/** Bounds keep estimates low; a schema now and then lacks them. */
const bounded = (random: Random, name: string, most: number): JsonObject =>
  random.chance(0.93) ? { [name]: 1 + random.below(most) } : {};

const scalar = (schema: JsonObject, type: string, pool: readonly Json[]): Part => ({
  schema,
  type: parseType(type),
  value: (random) => random.pick(pool),
});

type Maker = (random: Random, depth: number) => Part;

const SCALARS: readonly Maker[] = [
  (random) => text(random),
  (random) => text(random),
  () => scalar({ type: "integer" }, "int", INTEGERS),
  (random) => scalar({ type: "integer", format: random.pick(["int32", "int64"]) }, "int", INTEGERS.slice(0, 9)),
  () => scalar({ type: "number" }, "double", NUMBERS),
  () => scalar({ type: "boolean" }, "bool", [true, false]),
  (random) => scalar({ type: "string", format: "byte", ...bounded(random, "maxLength", 20) }, "bytes", BYTES),
  () => scalar({ type: "string", format: "duration" }, "duration", DURATIONS),
  () => scalar({ type: "string", format: "date-time" }, "timestamp", TIMES),
  () => scalar({ type: "string", format: "date" }, "timestamp", DATES),
  () => scalar({ type: "string", enum: ["a", "abc", "key"] }, "string", ["a", "abc", "key"]),
  () => scalar({ "x-kubernetes-int-or-string": true }, "dyn", [1, "a", "10%", 7]),
];

function text(random: Random): Part {
  const bounds = bounded(random, "maxLength", 30);
  const most = Number(bounds.maxLength ?? 30);
  return {
    schema: { type: "string", ...bounds },
    type: parseType("string"),
    value: (chance) => [...chance.pick(TEXTS)].slice(0, most).join(""),
  };
}

function listOf(random: Random, depth: number): Part {
  const item = random.chance(0.5) ? scalarOf(random) : depth > 0 ? objectOf(random, depth - 1, 3) : scalarOf(random);
  const bounds = bounded(random, "maxItems", 5);
  const most = Math.min(4, Number(bounds.maxItems ?? 4));
  return {
    schema: { type: "array", items: item.schema, ...bounds },
    type: { name: "list", args: [item.type] },
    value: (chance) => chance.some(most, () => item.value(chance)),
  };
}

/** Lists of type set and map, whose items must be different. */
function keyedList(random: Random, depth: number): Part {
  const most = 5;
  if (depth === 0 || random.chance(0.4)) {
    const item = random.chance(0.5) ? text(random) : scalar({ type: "integer" }, "int", INTEGERS);
    return {
      schema: { type: "array", "x-kubernetes-list-type": "set", items: item.schema, maxItems: most },
      type: { name: "list", args: [item.type] },
      value: (chance) =>
        unique(
          chance.some(4, () => item.value(chance)),
          (one) => JSON.stringify(one),
        ),
    };
  }
  const inner = objectOf(random, depth - 1, 2);
  const key = scalar({ type: "string", maxLength: 10 }, "string", KEYS);
  const properties = { ...(inner.schema.properties as JsonObject), name: key.schema };
  const fields = new Map([...(inner.type.fields ?? []), ["name", key.type] as const]);
  const items = { type: "object", required: ["name"], properties };
  return {
    schema: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items,
      maxItems: most,
    },
    type: { name: "list", args: [{ name: "object", args: [], fields }] },
    value: (chance) =>
      unique(
        chance.some(4, () => ({ ...(inner.value(chance) as JsonObject), name: key.value(chance) })),
        (one) => String(one.name),
      ),
  };
}

function unique<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}

function mapOf(random: Random, depth: number): Part {
  const below = depth > 0 && random.chance(0.3) ? objectOf(random, depth - 1, 2) : scalarOf(random);
  const bounds = bounded(random, "maxProperties", 4);
  // Go goes through a map in any order, so most have one member.
  const most = random.chance(0.7) ? 1 : Math.min(3, Number(bounds.maxProperties ?? 3));
  return {
    schema: { type: "object", additionalProperties: below.schema, ...bounds },
    type: { name: "map", args: [parseType("string"), below.type] },
    value: (chance) => Object.fromEntries(chance.some(most, () => [chance.pick(KEYS), below.value(chance)])),
  };
}

const scalarOf = (random: Random): Part => random.pick(SCALARS)(random, 0);

/** Names of properties, and what expressions call them. */
const NAMES: readonly (readonly [name: string, escaped: string])[] = [
  ...["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "value", "size", "items"].map(
    (name) => [name, name] as const,
  ),
  ["my-name", "my__dash__name"],
  ["dotted.name", "dotted__dot__name"],
  ["under__score", "under__underscores__score"],
  ["slash/ed", "slash__slash__ed"],
  ["namespace", "__namespace__"],
  ["in", "__in__"],
];

/** An object with up to so many random properties. */
export function objectOf(random: Random, depth: number, most: number): Part {
  const fields = new Map<string, CelType>();
  const properties: Record<string, JsonObject> = {};
  const parts: [name: string, part: Part, isRequired: boolean][] = [];
  for (let count = 1 + random.below(most); count > 0; count--) {
    const [name, escaped] = random.pick(NAMES);
    if (properties[name]) continue;
    const part = partOf(random, depth);
    const isNullable = random.chance(0.08);
    const made = isNullable
      ? {
          ...part,
          schema: { ...part.schema, nullable: true },
          value: (chance: Random) => (chance.chance(0.3) ? null : part.value(chance)),
        }
      : part;
    properties[name] = made.schema;
    fields.set(escaped, made.type);
    parts.push([name, made, random.chance(0.4)]);
  }
  const required = parts.filter(([, , isRequired]) => isRequired).map(([name]) => name);
  return {
    schema: { type: "object", properties, ...(required.length > 0 && { required }) },
    type: { name: "object", args: [], fields },
    value: (chance) =>
      Object.fromEntries(
        parts
          .filter(([, , isRequired]) => isRequired || chance.chance(0.7))
          .map(([name, part]) => [name, part.value(chance)]),
      ),
  };
}

function partOf(random: Random, depth: number): Part {
  const chance = random.next();
  if (chance < 0.5) return scalarOf(random);
  if (chance < 0.68) return listOf(random, depth);
  if (chance < 0.78) return keyedList(random, depth);
  if (chance < 0.9) return mapOf(random, depth);
  return depth > 0 ? objectOf(random, depth - 1, 4) : scalarOf(random);
}
