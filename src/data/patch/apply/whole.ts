import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { EMPTY, type FieldSet, type MutableFieldSet } from "./field-set.ts";
import { compareText, fieldElement, type PathElement, sortByElement } from "./path-element.ts";
import type { FieldShape, ListShape, MapShape, Shape } from "./shape.ts";
import { deduce, itemElement, memberShape, typedMember } from "./typed.ts";

/**
 * The node of a value that only one side has: the value itself and everything in it down to the leaves. `isTyped`: see
 * `typedMember`. Throws TypedError.
 */
export function wholeOf(shape: Shape, value: Json, isTyped: boolean): FieldSet {
  if (typeof value !== "object" || value === null) return EMPTY;
  const { map, scalar, list } = deduce(shape, value);
  if (map !== undefined) return map.isAtomic || !isObject(value) ? EMPTY : membersOf(map, value, isTyped);
  if (scalar !== undefined || list === undefined || list.isAtomic || !Array.isArray(value)) return EMPTY;
  if (value.length === 0) return EMPTY;
  const out: MutableFieldSet = { ".": EMPTY };
  for (const [element, node] of itemsOf(list, value, isTyped)) out[element] = node;
  return out;
}

/** The items of a list by element, in canonical order. Items with the same key count as one opaque item. */
export function itemsOf(list: ListShape, value: readonly Json[], isTyped: boolean): [PathElement, FieldSet][] {
  const items = list.items();
  const nodes: [PathElement, FieldSet][] = [];
  const [first] = value;
  if (value.length === 1 && first !== undefined) {
    return [[itemElement(list, first, isTyped), wholeOf(items, first, isTyped)]];
  }
  const places = new Map<PathElement, number>();
  for (const item of value) {
    const element = itemElement(list, item, isTyped);
    const place = places.get(element);
    if (place === undefined) {
      places.set(element, nodes.length);
      nodes.push([element, wholeOf(items, item, isTyped)]);
    } else nodes[place] = [element, EMPTY];
  }
  return sortByElement(nodes, ([element]) => element);
}

function membersOf(map: MapShape, value: JsonObject, isTyped: boolean): FieldSet {
  const fields = map.fields();
  if (fields.size === 0) return entriesOf(map, value);
  const found: FieldShape[] = [];
  let others: string[] | undefined;
  for (const name in value) {
    const field = fields.get(name);
    if (field === undefined) {
      others ??= [];
      if (value[name] !== undefined) others.push(name);
    } else if ((isTyped ? typedMember(field, value[name]) : value[name]) !== undefined) {
      insertInOrder(found, field);
    }
  }
  if (isTyped) for (const field of map.written()) if (value[field.name] === undefined) insertInOrder(found, field);
  if (others !== undefined) return mixedOf(map, value, [...found.map(({ name }) => name), ...others], isTyped);
  if (found.length === 0) return EMPTY;
  const out: MutableFieldSet = { ".": EMPTY };
  for (const field of found) {
    const member = isTyped ? typedMember(field, value[field.name]) : value[field.name];
    const isLeaf = typeof member !== "object" || member === null;
    out[field.element] = isLeaf ? EMPTY : wholeOf(field.shape(), member, isTyped);
  }
  return out;
}

/** Sorts while inserting, which is cheaper than sorting the few fields of an object. */
function insertInOrder(fields: FieldShape[], field: FieldShape): void {
  let at = fields.length;
  for (; at > 0; at--) {
    const before = fields[at - 1];
    if (before === undefined || before.order < field.order) break;
    fields[at] = before;
  }
  fields[at] = field;
}

/** The members of a map without declared fields. */
function entriesOf(map: MapShape, value: JsonObject): FieldSet {
  const names = Object.keys(value);
  const below = map.values();
  if (names.length === 0 || below === undefined) return mixedOf(map, value, names, false);
  if (names.length > 1) names.sort(compareText);
  const out: MutableFieldSet = { ".": EMPTY };
  let isEmpty = true;
  for (const name of names) {
    const member = value[name];
    if (member === undefined) continue;
    out[fieldElement(name)] = wholeOf(below, member, false);
    isEmpty = false;
  }
  return isEmpty ? EMPTY : out;
}

function mixedOf(map: MapShape, value: JsonObject, names: string[], isTyped: boolean): FieldSet {
  if (names.length === 0) return EMPTY;
  const out: MutableFieldSet = { ".": EMPTY };
  for (const name of names.length > 1 ? names.sort(compareText) : names) {
    const field = map.fields().get(name);
    const below = memberShape(map, name);
    const member = (isTyped ? typedMember(field, value[name]) : value[name]) ?? null;
    if (below !== undefined) out[field?.element ?? fieldElement(name)] = wholeOf(below, member, isTyped);
  }
  return out;
}
