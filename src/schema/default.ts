import { isObject, type Json, type JsonObject } from "../api/object.ts";
import { cloneJson } from "../lib/clone.ts";
import { getMember, setMember } from "../lib/members.ts";
import type { Schema } from "./schema.ts";

/**
 * Fills in the defaults that a schema publishes, in place. A default is given to a field of an object that is there,
 * and then to the fields of that default. Null gives way to a default unless the field may be null.
 */
export function applyDefaults(value: Json, schema: Schema): void {
  if (hasDefaults(schema)) fill(value, schema);
}

function fill(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined && hasDefaults(items)) for (const item of value) fill(item, items);
  } else if (isObject(value)) {
    fillObject(value, schema);
  }
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
  if (values === undefined || values === true || !hasDefaults(values)) return;
  for (const [name, member] of Object.entries(object)) {
    if (!properties?.has(name) && member !== undefined) fill(member, values);
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
    if (items !== undefined) waiting.push(items);
    if (values !== undefined && values !== true) waiting.push(values);
    if (properties === undefined || opened.has(properties)) continue;
    opened.add(properties);
    for (const field of properties.values()) {
      if (field.default !== undefined) return true;
      waiting.push(field);
    }
  }
  return false;
}
