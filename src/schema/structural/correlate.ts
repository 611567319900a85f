import type { Json } from "../../api/object.ts";
import { getMember } from "../../lib/members.ts";
import type { Schema } from "../schema.ts";
import { isMembers } from "./findings.ts";
import { printSorted, typeOfValue } from "./kinds-of-values.ts";

/**
 * A value beside the one that it replaces: what ratcheting goes by. Children are found by the name of a property, or by
 * the keys of a list of type map; nothing else can be told to be the same as before. Upstream: `common.CorrelatedObject`.
 */
export class Correlated {
  readonly value: Json;
  readonly old: Json;
  readonly schema: Schema;
  #isEqual: boolean | undefined;
  readonly #children = new Map<string | number, Correlated>();
  #oldByKeys: ReadonlyMap<string, Json> | undefined;

  constructor(value: Json, old: Json, schema: Schema) {
    this.value = value;
    this.old = old;
    this.schema = schema;
  }

  /** The value of a member. Undefined: the schema does not know it, or the member is new. */
  member(name: string): Correlated | undefined {
    const known = this.#children.get(name);
    if (known || !isMembers(this.value) || !isMembers(this.old)) return known;
    const value = getMember(this.value, name);
    const old = getMember(this.old, name);
    const { properties, values } = this.schema;
    const schema = properties?.get(name) ?? (values === true ? undefined : values);
    if (value === undefined || old === undefined || schema === undefined) return undefined;
    return this.#keep(name, value, old, schema);
  }

  /** The item of a list. Undefined: no item of the old list has its keys, or the list is not of type map. */
  item(index: number): Correlated | undefined {
    const known = this.#children.get(index);
    if (known || !Array.isArray(this.value) || !Array.isArray(this.old)) return known;
    const { listType, items } = this.schema;
    const value = this.value[index];
    if (listType !== "map" || items === undefined || value === undefined) return undefined;
    this.#oldByKeys ??= byKeys(this.old, this.schema);
    const keys = keysOf(value, this.schema);
    const old = keys === undefined ? undefined : this.#oldByKeys.get(keys);
    return old === undefined ? undefined : this.#keep(index, value, old, items);
  }

  #keep(place: string | number, value: Json, old: Json, schema: Schema): Correlated {
    const child = new Correlated(value, old, schema);
    this.#children.set(place, child);
    return child;
  }

  /**
   * Whether nothing changed. Compat: `CachedDeepEqual` does not take an object for the same that has a member without a
   * schema, as below x-kubernetes-preserve-unknown-fields.
   */
  get isEqual(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value))
      return Array.isArray(old) && value.length === old.length && this.#hasSameItems(value, old);
    if (isMembers(value)) {
      if (!isMembers(old)) return false;
      const names = Object.keys(value);
      return names.length === Object.keys(old).length && names.every((name) => this.member(name)?.isEqual ?? false);
    }
    return isSameScalar(value, old);
  }

  #hasSameItems(value: readonly Json[], old: readonly Json[]): boolean {
    for (const index of value.keys()) {
      const child = this.item(index);
      if (child === undefined)
        return this.#oldByKeys === undefined && printSorted([...value]) === printSorted([...old]);
      if (!child.isEqual) return false;
    }
    return true;
  }
}

function isSameScalar(one: Json, other: Json): boolean {
  return one === other || (typeOfValue(one) === "integer" && String(one) === String(other));
}

/** Upstream: `MakeMapList`: the first item with the same keys counts. */
function byKeys(items: readonly Json[], schema: Schema): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const item of items) {
    const keys = keysOf(item, schema);
    if (keys !== undefined && !found.has(keys)) found.set(keys, item);
  }
  return found;
}

const SCALARS: ReadonlySet<string> = new Set(["boolean", "number", "integer", "string"]);

/** The keys of an item as one text; undefined when one is missing or no scalar. */
function keysOf(item: Json, { listMapKeys = [] }: Schema): string | undefined {
  if (!isMembers(item) || listMapKeys.length === 0) return undefined;
  const keys: Json[] = [];
  for (const name of listMapKeys) {
    const key = getMember(item, name);
    if (key === undefined || !SCALARS.has(typeOfValue(key))) return undefined;
    keys.push(key);
  }
  return JSON.stringify(keys);
}
