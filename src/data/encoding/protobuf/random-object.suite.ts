import type { Json, JsonObject } from "../../../base/api/object.ts";
import { isWrittenAsNull } from "../../schema/go-names.ts";
import type { Schema } from "../../schema/schema.ts";

/** Random numbers in [0, 1) that depend only on the seed. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TEXTS = [
  "",
  "a",
  "naïve ☃ 𝄞",
  "x".repeat(200),
  "é".repeat(30),
  "k/v=1",
  '\u0000\n"\\',
  "constructor",
  "__proto__",
];
const INTEGERS = [0, 1, -1, 127, 128, 300, 2 ** 31 - 1, -(2 ** 31)];
const LONG_INTEGERS = [
  ...INTEGERS,
  2 ** 31,
  2 ** 32,
  2 ** 35 + 5,
  -(2 ** 40),
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];

/**
 * A random object of this schema, as decoding returns it: members in the order of the schema, zero values according to
 * the schema.
 */
export function randomObject(schema: Schema, random: () => number, depth = 0): JsonObject {
  const object: JsonObject = {};
  for (const [name, property] of schema.properties ?? []) {
    if (property.proto === undefined) continue;
    const isWanted = random() < (depth < 2 ? 0.4 : depth < 5 ? 0.1 : 0);
    if (property.zero === undefined) {
      if (isWanted) object[name] = randomValue(property, random, depth + 1);
      else if (isWrittenAsNull(schema.component ?? "", name)) object[name] = null;
      continue;
    }
    const value = isWanted ? randomValue(property, random, depth + 1) : zeroOf(property, depth);
    const isZero = value === null || value === "" || value === 0 || value === false;
    if (property.zero === "written" || !isZero) object[name] = value;
  }
  return object;
}

function zeroOf(schema: Schema, depth: number): Json {
  switch (schema.wire) {
    case "quantity":
      return "0";
    case "int-or-string":
      return 0;
    case "duration":
      return "0s";
    case undefined:
      break;
    default:
      return null;
  }
  if (schema.items !== undefined || schema.values !== undefined || schema.format === "byte") return null;
  if (schema.type === "string") return "";
  if (schema.type === "boolean") return false;
  if (schema.type === "integer" || schema.type === "number") return 0;
  return randomObject(schema, () => 1, depth + 1);
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T;
}

function randomValue(schema: Schema, random: () => number, depth: number): Json {
  if (schema.wire !== undefined) return randomForm(schema, random, depth);
  if (schema.items !== undefined) return randomList(schema.items, random, depth);
  if (schema.values !== undefined && schema.values !== true) {
    const entries = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(TEXTS, random)).sort();
    const { values } = schema;
    return Object.fromEntries(entries.map((key) => [key, randomValue(values, random, depth)]));
  }
  switch (schema.type) {
    case "string":
      return schema.format === "byte" ? Buffer.from(pick(TEXTS, random)).toString("base64") : pick(TEXTS, random);
    case "integer":
      return pick(schema.format === "int32" ? INTEGERS : LONG_INTEGERS, random);
    case "number":
      return pick([0, -1.5, 1e300, 0.1], random);
    case "boolean":
      return random() < 0.5;
    default:
      return randomObject(schema, random, depth);
  }
}

function randomList(items: Schema, random: () => number, depth: number): Json[] {
  return Array.from({ length: 1 + Math.floor(random() * 2) }, () => randomValue(items, random, depth));
}

function randomForm(schema: Schema, random: () => number, depth: number): Json {
  const seconds = Math.floor((random() - 0.2) * 4e9);
  const moment = new Date(seconds * 1000).toISOString().slice(0, 19);
  const plain: Schema = { type: "object", properties: schema.properties };
  switch (schema.wire) {
    case "quantity":
      return pick(["0", "250m", "1Gi", "-3"], random);
    case "int-or-string":
      return random() < 0.5 ? pick(INTEGERS, random) : pick(TEXTS, random);
    case "time":
      return `${moment}Z`;
    case "micro-time":
      return `${moment}.${String(Math.floor(random() * 1e6)).padStart(6, "0")}Z`;
    case "duration":
      return pick(["0s", "1h0m0.5s"], random);
    case "raw-json":
      return pick<Json>([{ a: [1, null, { b: "☃" }] }, "text", 1.5, false, []], random);
    case "wrapped-list":
      return randomList(schema.items ?? {}, random, depth);
    case "schema-or-bool":
      return random() < 0.5 ? random() < 0.5 : randomObject(plain, random, depth);
    default:
      return random() < 0.5 ? randomList(schema.items ?? {}, random, depth) : randomObject(plain, random, depth);
  }
}
