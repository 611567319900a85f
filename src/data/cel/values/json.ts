import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";
import { getMember } from "../../../base/util/members.ts";
import { spend } from "../cost/work.ts";
import { Double, intOf, ListValue, MapValue, type Value } from "./value.ts";

/**
 * A JSON value without a schema, converted lazily like cel-go's `DefaultTypeAdapter` does with unstructured objects.
 * Times, quantities and bytes are strings; numbers without a fraction are ints.
 */
export function jsonValue(json: Json | undefined): Value {
  if (json === undefined) return null;
  if (typeof json === "number") return Number.isSafeInteger(json) ? json : new Double(json);
  if (Array.isArray(json)) return new JsonList(json, jsonValue);
  if (isExactInteger(json)) return intOf(BigInt(String(json)));
  return isObject(json) ? new JsonMap(json) : json;
}

/** Units of the meter for counting a member. V8 sorts the names of large objects. */
const UNITS_PER_NAME = 2;

class JsonMap extends MapValue {
  readonly #members: JsonObject;

  constructor(members: JsonObject) {
    super();
    this.#members = members;
  }

  get size(): number {
    const names = Object.keys(this.#members);
    spend(names.length * UNITS_PER_NAME);
    let size = 0;
    for (const name of names) if (this.#members[name] !== undefined) size += 1;
    return size;
  }

  find(key: Value): Value | undefined {
    const json = typeof key === "string" ? getMember(this.#members, key) : undefined;
    return json === undefined ? undefined : jsonValue(json);
  }

  *keys(): Iterable<Value> {
    const names = Object.keys(this.#members);
    spend(names.length * UNITS_PER_NAME);
    for (const name of names) if (this.#members[name] !== undefined) yield name;
  }
}

/** A JSON list whose items are converted on access. */
export class JsonList extends ListValue {
  readonly #items: readonly Json[];
  readonly #read: (json: Json) => Value;

  constructor(items: readonly Json[], read: (json: Json) => Value) {
    super();
    this.#items = items;
    this.#read = read;
  }
  get size(): number {
    return this.#items.length;
  }
  at(index: number): Value {
    return this.#read(this.#items[index] as Json);
  }
}
