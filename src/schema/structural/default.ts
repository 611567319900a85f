import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import { getMember, setMember } from "../../lib/members.ts";
import type { Schema } from "../schema.ts";

/**
 * Fills in the defaults that a schema publishes, in place. A default is given to a field of an object that is there,
 * and then to the fields of that default. Null gives way to a default unless the field may be null; in a list or map it
 * does so, too. Upstream: `defaulting.Default`.
 */
export function applyDefaults(value: Json, schema: Schema): void {
  if (hasDefaults(schema)) fill(value, schema);
}

function fill(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) fillItems(value, schema.items);
  } else if (isObject(value)) {
    fillObject(value, schema);
  }
}

function fillItems(list: Json[], items: Schema): void {
  if (items.default !== undefined && items.nullable !== true) {
    for (const [index, item] of list.entries()) if (item === null) list[index] = cloneJson(items.default);
  }
  if (hasDefaults(items)) for (const item of list) fill(item, items);
}

function fillObject(object: JsonObject, { properties, values }: Schema): void {
  for (const { name, field, isDeep } of fieldsWithDefaults(properties)) {
    let value = getMember(object, name);
    const isMissing = value === undefined || (value === null && field.nullable !== true);
    if (isMissing && field.default !== undefined) {
      value = cloneJson(field.default);
      setMember(object, name, value);
    }
    if (isDeep && value !== undefined) fill(value, field);
  }
  if (values !== undefined && values !== true) fillMembers(object, values, properties);
}

function fillMembers(object: JsonObject, values: Schema, properties: Schema["properties"]): void {
  const replacesNull = values.default !== undefined && values.nullable !== true;
  if (!replacesNull && !hasDefaults(values)) return;
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined || properties?.has(name)) continue;
    const isReplaced = member === null && replacesNull;
    const value = isReplaced ? cloneJson(values.default ?? null) : member;
    if (isReplaced) setMember(object, name, value);
    fill(value, values);
  }
}

type Properties = NonNullable<Schema["properties"]>;

interface DefaultedField {
  readonly name: string;
  readonly field: Schema;
  /** Whether something below the field has a default. */
  readonly isDeep: boolean;
}

const fieldsOf = new WeakMap<Properties, readonly DefaultedField[]>();

/** The fields that have a default or something with a default below them. */
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
  // A shape may contain itself, so what was opened is remembered.
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
