import type { Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Meter, UNLIMITED } from "../../../base/util/meter.ts";
import type { Schema } from "../schema.ts";
import { isMembers } from "./findings.ts";
import { printSorted, typeOfValue } from "./kinds-of-values.ts";

/** Units of the meter for reading a key of an item. */
const UNITS_PER_KEY = 0.5;

/**
 * A value together with the one that it replaces, for ratcheting. Children are correlated by property name, or by the
 * keys of a list of type map. Others cannot be correlated. Upstream: `common.CorrelatedObject`.
 */
export class Correlated {
  readonly value: Json;
  readonly old: Json;
  readonly schema: Schema;
  readonly #meter: Meter;
  #isEqual: boolean | undefined;
  readonly #children = new Map<string | number, Correlated>();
  #oldByKeys: ReadonlyMap<string, Json> | undefined;

  /** Charges the meter for the keys of lists. */
  constructor(value: Json, old: Json, schema: Schema, meter: Meter = UNLIMITED) {
    this.value = value;
    this.old = old;
    this.schema = schema;
    this.#meter = meter;
  }

  /** The correlated value of a member. Undefined if the member is new or has no schema. */
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

  /** The correlated item of a list. Undefined if no old item has its keys, or if the list is not of type map. */
  item(index: number): Correlated | undefined {
    const known = this.#children.get(index);
    if (known || !Array.isArray(this.value) || !Array.isArray(this.old)) return known;
    const { listType, items, listMapKeys = [] } = this.schema;
    const value = this.value[index];
    if (listType !== "map" || items === undefined || value === undefined) return undefined;
    const read = this.#oldByKeys === undefined ? 1 + this.old.length : 1;
    this.#meter.charge(read * listMapKeys.length * UNITS_PER_KEY);
    this.#oldByKeys ??= byKeys(this.old, this.schema);
    const keys = keysOf(value, this.schema);
    const old = keys === undefined ? undefined : this.#oldByKeys.get(keys);
    return old === undefined ? undefined : this.#keep(index, value, old, items);
  }

  #keep(place: string | number, value: Json, old: Json, schema: Schema): Correlated {
    const child = new Correlated(value, old, schema, this.#meter);
    this.#children.set(place, child);
    return child;
  }

  /**
   * Whether nothing changed. Compat: to `CachedDeepEqual`, an object that has a member without a schema is never equal,
   * as below x-kubernetes-preserve-unknown-fields.
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

/** Upstream: `MakeMapList`: the first of several items with the same keys is used. */
function byKeys(items: readonly Json[], schema: Schema): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const item of items) {
    const keys = keysOf(item, schema);
    if (keys !== undefined && !found.has(keys)) found.set(keys, item);
  }
  return found;
}

const SCALARS: ReadonlySet<string> = new Set(["boolean", "number", "integer", "string"]);

/** The keys of an item as one text. Undefined if one is missing or not a scalar. */
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
