import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";
import { getMember, setMember } from "../../../base/util/members.ts";
import { type KeyField, keyElement, type PathElement, valueElement } from "./path-element.ts";
import type { FieldShape, ListShape, MapShape, Shape } from "./shape.ts";

/** The value does not match its schema. The message is the wire text without the path. */
export class TypedError extends Error {}

/** Like TypedError, for an object converted to the version of another manager. The message is the whole wire text. */
export class VersionError extends TypedError {}

/** Whether a value is a string, number or boolean. */
export function isScalar(value: Json | undefined): boolean {
  if (typeof value !== "object") return value !== undefined;
  return value !== null && !Array.isArray(value) && isExactInteger(value);
}

/** The alternative of a shape that matches the value. The shape itself if none matches or the value is null. */
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

/** Whether two alternatives of a shape are the same. */
export function sameAlternative(left: Shape, right: Shape): boolean {
  return left.scalar === right.scalar && left.list === right.list && left.map === right.map;
}

/** Whether two values are equal. Null and empty differ. */
export function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, i) => sameValue(item, right[i]));
  }
  if (Array.isArray(right)) return false;
  if (isExactInteger(left) || isExactInteger(right)) return isExactInteger(left) && String(left) === String(right);
  for (const member in left) if (!sameValue(left[member], right[member])) return false;
  // A member may be called `constructor`, which every object inherits.
  for (const member in right) {
    if (right[member] !== undefined && (left[member] === undefined || !Object.hasOwn(left, member))) return false;
  }
  return true;
}

/** The shape of a member. Undefined if the member is not allowed. */
export function memberShape(map: MapShape, name: string): Shape | undefined {
  return map.fields().get(name)?.shape() ?? map.values();
}

/**
 * The member as a Go type would decode it: undefined for a zero that is not written, and the zero value for an omitted
 * field that is always written.
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
  if (isExactInteger(value)) return false;
  for (const member in value) if (value[member] !== undefined) return false;
  return true;
}

/** The value as a Go type would decode it. Copied where that differs. */
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
