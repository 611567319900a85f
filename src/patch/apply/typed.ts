import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { isExactInteger } from "../../lib/exact-integer.ts";
import { getMember, setMember } from "../../lib/members.ts";
import { type KeyField, keyElement, type PathElement, valueElement } from "./path-element.ts";
import type { FieldShape, ListShape, MapShape, Shape } from "./shape.ts";

/** Thrown when a value does not have the shape that its schema says; the message is the wire text without the path. */
export class TypedError extends Error {}

/** The same about an object that was converted to the version of another manager; the message is the whole wire text. */
export class VersionError extends TypedError {}

/** Whether a value is a string, number or boolean. */
export function isScalar(value: Json | undefined): boolean {
  if (typeof value !== "object") return value !== undefined;
  return value !== null && !Array.isArray(value) && isExactInteger(value);
}

/** The one alternative of a shape that fits the value; the shape itself when none does or the value is null. */
export function deduce(shape: Shape, value: Json | undefined): Shape {
  if (value === undefined || value === null || !isMixed(shape)) return shape;
  if (Array.isArray(value)) return shape.list !== undefined ? { list: shape.list } : shape;
  if (isObject(value)) return shape.map !== undefined ? { map: shape.map } : shape;
  return shape.scalar !== undefined ? { scalar: shape.scalar } : shape;
}

function isMixed({ scalar, list, map }: Shape): boolean {
  if (scalar !== undefined) return list !== undefined || map !== undefined;
  return list !== undefined && map !== undefined;
}

/** Whether two alternatives of one shape are the same one. */
export function sameAlternative(left: Shape, right: Shape): boolean {
  return left.scalar === right.scalar && left.list === right.list && left.map === right.map;
}

/** Whether two values are equal; null and empty are not. */
export function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, i) => sameValue(item, right[i]));
  }
  if (Array.isArray(right)) return false;
  for (const member in left) if (!sameValue(left[member], right[member])) return false;
  // A member may be called `constructor`, which every object inherits.
  for (const member in right) {
    if (right[member] !== undefined && (left[member] === undefined || !Object.hasOwn(left, member))) return false;
  }
  return true;
}

/** The shape of a member, undefined when it may not be there. */
export function memberShape(map: MapShape, name: string): Shape | undefined {
  return map.fields().get(name)?.shape() ?? map.values();
}

/**
 * The member as the typed original sees it: fields whose zero is not written are absent when they are zero, those
 * whose zero is written are always there.
 */
export function typedMember(field: FieldShape | undefined, value: Json | undefined): Json | undefined {
  switch (field?.zero) {
    case "omitted":
      return isZero(value) ? undefined : value;
    case "written":
      return value ?? field.zeroValue;
    case "pointer":
      return value ?? undefined;
    default:
      return value;
  }
}

function isZero(value: Json | undefined): boolean {
  if (typeof value !== "object") return value === undefined || value === "" || value === 0 || value === false;
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const member in value) if (value[member] !== undefined) return false;
  return true;
}

/** The whole value as the typed original sees it; a new value where that differs. */
export function typedValue(shape: Shape, value: Json): Json {
  if (Array.isArray(value)) {
    const items = shape.list?.items();
    return items === undefined ? value : value.map((item) => typedValue(items, item));
  }
  if (!isObject(value) || shape.map === undefined) return value;
  const fields = shape.map.fields();
  const out: JsonObject = {};
  for (const name of Object.keys(value)) {
    const seen = typedMember(fields.get(name), value[name]);
    const below = memberShape(shape.map, name);
    if (seen === undefined) continue;
    setMember(out, name, below === undefined ? seen : typedValue(below, seen));
  }
  for (const field of shape.map.written()) {
    if (value[field.name] === undefined) out[field.name] = typedValue(field.shape(), field.zeroValue);
  }
  return out;
}

/** The path element of an item of a list that is not atomic. `isTyped`: see `typedMember`. Throws TypedError. */
export function itemElement(list: ListShape, item: Json | undefined, isTyped: boolean): PathElement {
  if (list.keys.length === 0) return setElement(item);
  if (item === null || item === undefined) {
    throw new TypedError("associative list with keys may not have a null element");
  }
  if (!isObject(item)) throw new TypedError("associative list with keys may not have non-map elements");
  const fields = list.items().map?.fields();
  const key: KeyField[] = [];
  for (const name of list.sortedKeys) {
    const field = fields?.get(name);
    const member = getMember(item, name);
    const value = (isTyped ? typedMember(field, member) : member) ?? field?.default;
    if (member === null && !isTyped) key.push([name, null]);
    else if (value !== undefined) key.push([name, value]);
  }
  if (key.length === 0) {
    const names = list.keys.map((name) => `"${name}"`).join(" ");
    throw new TypedError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(key);
}

function setElement(item: Json | undefined): PathElement {
  if (item === null || item === undefined) {
    throw new TypedError("associative list without keys has an element that's an explicit null");
  }
  if (Array.isArray(item)) throw new TypedError("not supported: associative list with lists as elements");
  if (isObject(item)) throw new TypedError("associative list without keys has an element that's a map type");
  return valueElement(item);
}
