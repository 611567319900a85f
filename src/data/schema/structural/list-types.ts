import { duplicateField, type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { Json } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Meter, UNLIMITED } from "../../../base/util/meter.ts";
import type { Schema } from "../schema.ts";
import { isMembers, shown } from "./findings.ts";
import { printSorted } from "./kinds-of-values.ts";

/**
 * Validates that items of list-type set and keys of list-type map are unique. `path` is empty at the root. Upstream:
 * `ValidateListSetsAndMaps`. Charges the meter. Throws TooCostly.
 */
export function validateListTypes(schema: Schema, value: Json, path = "", meter: Meter = UNLIMITED): FieldError[] {
  const found: Found = { errors: [], meter };
  walk(schema, value, path, found);
  return found.errors;
}

interface Found {
  readonly errors: FieldError[];
  readonly meter: Meter;
}

/** Units of the meter for a value or a key of a list. */
const UNITS_PER_KEY = 0.5;

function walk(schema: Schema, value: Json, path: string, found: Found): void {
  if (Array.isArray(value)) walkList(schema, value, path, found);
  else if (isMembers(value)) walkMembers(schema, value, path, found);
}

function walkMembers(
  { properties, values }: Schema,
  object: { readonly [member: string]: Json },
  path: string,
  found: Found,
): void {
  const below = values === undefined || values === true ? undefined : values;
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined || member === null) continue;
    if (below) walk(below, member, `${path}[${name}]`, found);
    const property = properties?.get(name);
    if (property) walk(property, member, path === "" ? name : `${path}.${name}`, found);
  }
}

function walkList(
  { listType, listMapKeys = [], items }: Schema,
  list: readonly Json[],
  path: string,
  found: Found,
): void {
  const { errors, meter } = found;
  meter.charge(list.length * (1 + listMapKeys.length) * UNITS_PER_KEY);
  if (listType === "set") {
    for (const index of repeated(list)) errors.push(duplicateField(`${path}[${index}]`, shown(list[index] ?? null)));
  } else if (listType === "map") {
    addAll(errors, validateMap(list, listMapKeys, path));
  }
  if (items === undefined) return;
  for (const [index, item] of list.entries()) walk(items, item, `${path}[${index}]`, found);
}

/**
 * The indices where a value occurs for the second time. Further occurrences are not reported. Upstream:
 * `validateListSet`.
 */
function repeated(values: readonly (Json | undefined)[]): number[] {
  if (values.length <= 1) return [];
  const times = new Map<string, number>();
  const found: number[] = [];
  for (const [index, value] of values.entries()) {
    const text = value === undefined ? "" : printSorted(value);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    if (before === 1) found.push(index);
  }
  return found;
}

function validateMap(list: readonly Json[], names: readonly string[], path: string): FieldError[] {
  const wrong = list.findIndex((item) => item !== null && !isMembers(item));
  if (wrong >= 0) {
    const text = "must be an object for an array of list-type map";
    return [invalidField(`${path}[${wrong}]`, shown(list[wrong] ?? null), text)];
  }
  const keys = list.map((item) => keysOf(item, names));
  return repeated(keys).map((index) => duplicateField(`${path}[${index}]`, shown(keys[index] ?? null)));
}

function keysOf(item: Json, names: readonly string[]): Json {
  const keys: { [member: string]: Json } = {};
  if (!isMembers(item)) return keys;
  for (const name of names) {
    const key = getMember(item, name);
    if (key !== undefined) keys[name] = key;
  }
  return keys;
}
