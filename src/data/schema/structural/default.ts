import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { getMember, setMember } from "../../../base/util/members.ts";
import { type Meter, UNITS_PER_ADDED_VALUE, UNLIMITED } from "../../../base/util/meter.ts";
import type { Schema } from "../schema.ts";

/**
 * Sets the published defaults of a schema, in place. A default is set on a field of an existing object, then on the
 * fields within that default. Null is replaced by a default unless the field is nullable, also in lists and maps.
 * Upstream: `defaulting.Default`. Charges the meter, because a few bytes can get many defaults. Throws TooCostly.
 */
export function applyDefaults(value: Json, schema: Schema, meter: Meter = UNLIMITED): void {
  if (hasDefaults(schema)) fill(value, schema, meter);
}

/** Units of the meter for looking at a field. */
const UNITS_PER_FIELD = 0.5;

function fill(value: Json, schema: Schema, meter: Meter): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) fillItems(value, schema.items, meter);
  } else if (isObject(value)) {
    fillObject(value, schema, meter);
  }
}

function fillItems(list: Json[], items: Schema, meter: Meter): void {
  if (items.default !== undefined && items.nullable !== true) {
    for (const [index, item] of list.entries()) if (item === null) list[index] = copyOf(items.default, meter);
  }
  if (hasDefaults(items)) for (const item of list) fill(item, items, meter);
}

/** A copy of a default, which is charged by its number of values. */
function copyOf(value: Json, meter: Meter): Json {
  meter.charge(UNITS_PER_ADDED_VALUE * countValues(value));
  return cloneJson(value);
}

const counts = new WeakMap<object, number>();

function countValues(value: Json): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = counts.get(value);
  if (count === undefined) {
    count = 1;
    for (const below of Object.values(value)) count += countValues(below ?? null);
    counts.set(value, count);
  }
  return count;
}

function fillObject(object: JsonObject, { properties, values }: Schema, meter: Meter): void {
  const fields = fieldsWithDefaults(properties);
  meter.charge(fields.length * UNITS_PER_FIELD);
  for (const { name, field, isDeep } of fields) {
    let value = getMember(object, name);
    const isMissing = value === undefined || (value === null && field.nullable !== true);
    if (isMissing && field.default !== undefined) {
      value = copyOf(field.default, meter);
      setMember(object, name, value);
    }
    if (isDeep && value !== undefined) fill(value, field, meter);
  }
  if (values !== undefined && values !== true) fillMembers(object, values, properties, meter);
}

function fillMembers(object: JsonObject, values: Schema, properties: Schema["properties"], meter: Meter): void {
  const replacesNull = values.default !== undefined && values.nullable !== true;
  if (!replacesNull && !hasDefaults(values)) return;
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined || properties?.has(name)) continue;
    const isReplaced = member === null && replacesNull;
    const value = isReplaced ? copyOf(values.default ?? null, meter) : member;
    if (isReplaced) setMember(object, name, value);
    fill(value, values, meter);
  }
}

type Properties = NonNullable<Schema["properties"]>;

interface DefaultedField {
  readonly name: string;
  readonly field: Schema;
  /** Whether anything below the field has a default. */
  readonly isDeep: boolean;
}

const fieldsOf = new WeakMap<Properties, readonly DefaultedField[]>();

/** The fields that have a default themselves or below them. */
function fieldsWithDefaults(properties: Properties | undefined): readonly DefaultedField[] {
  if (properties === undefined) return [];
  let fields = fieldsOf.get(properties);
  if (fields === undefined) {
    fields = [...properties]
      .map(([name, field]) => ({ name, field, isDeep: hasDefaults(field) }))
      .filter(({ field, isDeep }) => isDeep || field.default !== undefined);
    fieldsOf.set(properties, fields);
  }
  return fields;
}

const known = new WeakMap<Schema, boolean>();

/** Whether anything below a node has a default. */
function hasDefaults(schema: Schema): boolean {
  let found = known.get(schema);
  if (found === undefined) {
    found = reachesDefault(schema);
    known.set(schema, found);
  }
  return found;
}

function reachesDefault(schema: Schema): boolean {
  // A type may contain itself, so visited nodes are remembered.
  const opened = new Set<Properties>();
  const waiting: Schema[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { items, values, properties } = node;
    for (const below of [items, values]) {
      if (below === undefined || below === true) continue;
      if (below.default !== undefined) return true;
      waiting.push(below);
    }
    if (properties === undefined || opened.has(properties)) continue;
    opened.add(properties);
    for (const field of properties.values()) {
      if (field.default !== undefined) return true;
      waiting.push(field);
    }
  }
  return false;
}
