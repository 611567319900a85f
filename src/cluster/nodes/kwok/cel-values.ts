import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { spend } from "../../../data/cel/cost/work.ts";
import { JsonList, jsonValue } from "../../../data/cel/values/json.ts";
import { parseTimestamp } from "../../../data/cel/values/time.ts";
import { CelError, MapValue, Timestamp, type Value } from "../../../data/cel/values/value.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { quantityOf } from "./cel-quantity.ts";

const YEAR_ONE_SECONDS = -62_135_596_800;

/**
 * A value of a built-in type as KWOK's expressions see Go structs: fields that are missing have their zero values, times
 * are timestamps, and amounts are quantities.
 */
export function structValue(json: Json | undefined, schema: Schema): Value {
  if (schema.wire === "quantity") return quantityOf(typeof json === "object" || json === undefined ? "0" : `${json}`);
  if (schema.wire === "time" || schema.wire === "micro-time") return timeOf(json);
  if (schema.items !== undefined) {
    const { items } = schema;
    return new JsonList(Array.isArray(json) ? json : [], (one) => structValue(one, items));
  }
  if (schema.properties !== undefined || schema.values !== undefined) {
    return new StructMap(isObject(json) ? json : {}, schema);
  }
  return json === undefined || json === null ? zeroOf(schema) : jsonValue(json);
}

function timeOf(json: Json | undefined): Value {
  const time = typeof json === "string" ? parseTimestamp(json) : undefined;
  return time ?? new Timestamp(YEAR_ONE_SECONDS, 0);
}

function zeroOf({ type }: Schema): Value {
  if (type === "string") return "";
  if (type === "boolean") return false;
  return type === "integer" || type === "number" ? 0 : null;
}

/** A struct or a map. Compat: `ResourceList` has a quantity of zero for a resource that is missing. */
class StructMap extends MapValue {
  readonly #members: JsonObject;
  readonly #schema: Schema;

  constructor(members: JsonObject, schema: Schema) {
    super();
    this.#members = members;
    this.#schema = schema;
  }

  get size(): number {
    return [...this.keys()].length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== "string") return new CelError("unsupported key type");
    const { properties, values } = this.#schema;
    const json = getMember(this.#members, key);
    const field = properties?.get(key);
    if (field !== undefined) return structValue(json, field);
    const isAmount = typeof values === "object" && values.wire === "quantity";
    if (json === undefined && !isAmount) return undefined;
    return typeof values === "object" ? structValue(json, values) : jsonValue(json);
  }

  *keys(): Iterable<Value> {
    const names = this.#schema.properties ? [...this.#schema.properties.keys()] : Object.keys(this.#members);
    spend(names.length);
    yield* names;
  }
}
