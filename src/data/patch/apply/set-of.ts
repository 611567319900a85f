import { isObject, type Json } from "../../../base/api/object.ts";
import { EMPTY, type FieldSet, isEmpty, type MutableFieldSet } from "./field-set.ts";
import { compareText, fieldElement, type PathElement, sortByElement } from "./path-element.ts";
import type { ListShape, MapShape, Shape } from "./shape.ts";
import { deduce, itemElement } from "./typed.ts";

/** All leaves and items in a value: the fields that its applier owns. The value must match the shape. */
export function setOf(shape: Shape, value: Json): FieldSet {
  return nodeOf(shape, value) ?? EMPTY;
}

/** The node of a value. EMPTY: only its own path. Undefined: no path. */
function nodeOf(shape: Shape, value: Json): FieldSet | undefined {
  const { map, scalar, list } = deduce(shape, value);
  if (map !== undefined) return map.isAtomic ? EMPTY : membersOf(map, value);
  if (scalar !== undefined) return EMPTY;
  if (list === undefined) return undefined;
  return list.isAtomic ? EMPTY : itemsOf(list, value);
}

function membersOf(map: MapShape, value: Json): FieldSet | undefined {
  if (!isObject(value)) return undefined;
  const fields = map.fields();
  const out: MutableFieldSet = {};
  for (const name of Object.keys(value).sort(compareText)) {
    const member = value[name];
    if (member === undefined) continue;
    const field = fields.get(name);
    const below = field === undefined ? map.values() : field.shape();
    const node = below === undefined ? undefined : nodeOf(below, member);
    const isOwned = field === undefined || member === null || (isObject(member) && Object.keys(member).length === 0);
    const element = field?.element ?? fieldElement(name);
    if (isOwned) out[element] = itself(node);
    else if (node !== undefined) out[element] = node;
  }
  return isEmpty(out) ? undefined : out;
}

/** The node with itself as a member. */
function itself(node: FieldSet | undefined): FieldSet {
  return node === undefined || isEmpty(node) ? EMPTY : { ".": EMPTY, ...node };
}

function itemsOf(list: ListShape, value: Json): FieldSet | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const items = list.items();
  const nodes = new Map<PathElement, FieldSet>();
  for (const item of value) {
    const element = itemElement(list, item, false);
    // Items with the same key are owned as one.
    nodes.set(element, nodes.has(element) ? EMPTY : itself(nodeOf(items, item)));
  }
  const out: MutableFieldSet = {};
  const elements = [...nodes.keys()];
  for (const element of sortByElement(elements, (element) => element)) out[element] = nodes.get(element) ?? EMPTY;
  return out;
}
