import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { isExactInteger } from "../../lib/exact-integer.ts";
import { getMember } from "../../lib/members.ts";
import { Double, intOf, ListValue, MapValue, type Value } from "./value.ts";

/**
 * A value of JSON without any schema, read member by member: what cel-go's `DefaultTypeAdapter` makes of unstructured
 * objects. Times, quantities and bytes are texts; numbers without a fraction are ints.
 */
export function jsonValue(json: Json | undefined): Value {
  if (json === undefined) return null;
  if (typeof json === "number") return Number.isSafeInteger(json) ? json : new Double(json);
  if (Array.isArray(json)) return new JsonList(json, jsonValue);
  if (isExactInteger(json)) return intOf(BigInt(String(json)));
  return isObject(json) ? new JsonMap(json) : json;
}

class JsonMap extends MapValue {
  readonly #members: JsonObject;

  constructor(members: JsonObject) {
    super();
    this.#members = members;
  }

  get size(): number {
    let size = 0;
    for (const name of Object.keys(this.#members)) if (this.#members[name] !== undefined) size += 1;
    return size;
  }

  find(key: Value): Value | undefined {
    const json = typeof key === "string" ? getMember(this.#members, key) : undefined;
    return json === undefined ? undefined : jsonValue(json);
  }

  *keys(): Iterable<Value> {
    for (const name of Object.keys(this.#members)) if (this.#members[name] !== undefined) yield name;
  }
}

/** A list of JSON, whose items become values when they are asked for. */
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
