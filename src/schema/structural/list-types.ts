import { duplicateField, type FieldError, invalidField } from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";
import { addAll } from "../../lib/add-all.ts";
import { getMember } from "../../lib/members.ts";
import type { Schema } from "../schema.ts";
import { isMembers, shown } from "./findings.ts";
import { printSorted } from "./kinds-of-values.ts";

/**
 * What is wrong with lists of type set and map: items, or their keys, that come again. Upstream:
 * `ValidateListSetsAndMaps`. `path` is empty at the root.
 */
export function validateListTypes(schema: Schema, value: Json, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, value, path, errors);
  return errors;
}

function walk(schema: Schema, value: Json, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) walkList(schema, value, path, errors);
  else if (isMembers(value)) walkMembers(schema, value, path, errors);
}

function walkMembers(
  { properties, values }: Schema,
  object: { readonly [member: string]: Json },
  path: string,
  errors: FieldError[],
): void {
  const below = values === undefined || values === true ? undefined : values;
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined || member === null) continue;
    if (below) walk(below, member, `${path}[${name}]`, errors);
    const property = properties?.get(name);
    if (property) walk(property, member, path === "" ? name : `${path}.${name}`, errors);
  }
}

function walkList(
  { listType, listMapKeys = [], items }: Schema,
  list: readonly Json[],
  path: string,
  errors: FieldError[],
): void {
  if (listType === "set") {
    for (const index of repeated(list)) errors.push(duplicateField(`${path}[${index}]`, shown(list[index] ?? null)));
  } else if (listType === "map") {
    addAll(errors, validateMap(list, listMapKeys, path));
  }
  if (items === undefined) return;
  for (const [index, item] of list.entries()) walk(items, item, `${path}[${index}]`, errors);
}

/** The places where a value comes for the second time; further times are not told. Upstream: `validateListSet`. */
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
