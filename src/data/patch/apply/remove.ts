import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { setMember } from "../../../base/util/members.ts";
import { EMPTY, type FieldSet, hasChildren, isMember } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import type { Shape } from "./shape.ts";
import { deduce, itemElement, memberShape } from "./typed.ts";

/** Removes the fields and items of the set. A list or map that becomes empty is replaced by null. */
export function removeItems(shape: Shape, object: JsonObject, set: FieldSet): JsonObject {
  const out = remove(shape, object, set);
  return isObject(out) ? out : {};
}

function remove(shape: Shape, value: Json, set: FieldSet): Json {
  const { map, scalar, list } = deduce(shape, value);
  if (map !== undefined) {
    if (!isObject(value) || map.isAtomic) return null;
    const out: JsonObject = {};
    for (const name of Object.keys(value)) {
      const member = value[name];
      const node = set[fieldElement(name)];
      if (member === undefined || (node !== undefined && isMember(node))) continue;
      const below = memberShape(map, name);
      setMember(out, name, node !== undefined && below !== undefined ? remove(below, member, node) : member);
    }
    return Object.keys(out).length > 0 ? out : null;
  }
  if (scalar !== undefined || list === undefined) return value;
  if (!Array.isArray(value) || list.isAtomic) return null;
  const items: Json[] = [];
  for (const item of value) {
    const node = set[itemElement(list, item, false)] ?? undefined;
    if (node !== undefined && isMember(node)) continue;
    items.push(node !== undefined && hasChildren(node) ? remove(list.items(), item, node ?? EMPTY) : item);
  }
  return items.length > 0 ? items : null;
}
