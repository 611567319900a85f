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
  if (Array.isArray(json)) return new JsonList(json);
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

class JsonList extends ListValue {
  readonly #items: readonly Json[];

  constructor(items: readonly Json[]) {
    super();
    this.#items = items;
  }
  get size(): number {
    return this.#items.length;
  }
  at(index: number): Value {
    return jsonValue(this.#items[index]);
  }
}
