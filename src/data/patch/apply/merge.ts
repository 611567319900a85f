import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { getMember, setMember } from "../../../base/util/members.ts";
import type { PathElement } from "./path-element.ts";
import type { ListShape, MapShape, Shape } from "./shape.ts";
import { deduce, itemElement, memberShape, TypedError } from "./typed.ts";

type Value = Json | undefined;

/**
 * Merges the applied object into the live one. Nothing is removed; leaves and atomic parts are replaced; shared list
 * items are in the applied order. Throws TypedError.
 */
export function merge(shape: Shape, live: JsonObject, applied: JsonObject): JsonObject {
  const merged = mergeValues(shape, live, applied);
  return isObject(merged) ? merged : {};
}

function mergeValues(shape: Shape, left: Value, right: Value): Value {
  const { map, scalar, list } = deduce(shape, right === undefined ? left : right);
  if (map !== undefined) return mergeMaps(map, left, right);
  if (list === undefined || scalar !== undefined) return keepRight(left, right);
  return mergeLists(list, left, right);
}

function keepRight(left: Value, right: Value): Value {
  return right === undefined ? left : right;
}

function mergeMaps(shape: MapShape, left: Value, right: Value): Value {
  const leftMap = isObject(left) ? left : {};
  const rightMap = isObject(right) ? right : {};
  const names = new Set([...Object.keys(leftMap), ...Object.keys(rightMap)]);
  if (shape.isAtomic || names.size === 0) return keepRight(left, right);
  const out: JsonObject = {};
  for (const name of names) {
    const below = memberShape(shape, name);
    const value =
      below === undefined ? undefined : mergeValues(below, getMember(leftMap, name), getMember(rightMap, name));
    if (value !== undefined) setMember(out, name, value);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** A list and the elements of its items. `items` contains null for keys that occur more than once. */
interface Indexed {
  readonly elements: readonly PathElement[];
  readonly items: ReadonlyMap<PathElement, Value>;
}

function index(shape: ListShape, list: readonly Json[], allowsDuplicates: boolean): Indexed {
  const items = new Map<PathElement, Value>();
  const elements = list.map((item) => {
    const element = itemElement(shape, item, false);
    if (items.has(element) && !allowsDuplicates) throw new TypedError(`duplicate entries for key ${element}`);
    items.set(element, items.has(element) ? null : item);
    return element;
  });
  return { elements, items };
}

/**
 * Merges two lists in one pass. Items of the live list only keep their place before the shared item that follows them.
 * Shared items are in the applied order. By example (live, applied → merged):
 *   a b c, c a   →  b c a        a b, x b   →  a x b
 */
function mergeLists(shape: ListShape, left: Value, right: Value): Value {
  const live = Array.isArray(left) ? left : [];
  const applied = Array.isArray(right) ? right : [];
  if (shape.isAtomic || (live.length === 0 && applied.length === 0)) return keepRight(left, right);
  const rightSide = index(shape, applied, false);
  const leftSide = index(shape, live, true);
  const out: Json[] = [];
  const take = (item: Value, other: Value): void => {
    const merged = mergeValues(shape.items(), item, other);
    if (merged !== undefined) out.push(merged);
  };
  const shared = rightSide.elements.filter((element) => leftSide.items.has(element));
  const done = new Set<PathElement>();
  let turn = 0;
  let l = 0;
  let r = 0;
  while (l < live.length || r < applied.length) {
    const onLeft = leftSide.elements[l];
    const onRight = rightSide.elements[r];
    if (onLeft !== undefined && onRight !== undefined && onLeft !== onRight) {
      // A shared item, but not the next one in the applied order.
      if (rightSide.items.has(onLeft) && turn < shared.length && shared[turn] !== onLeft) {
        l++;
        continue;
      }
    }
    if (onLeft !== undefined && onLeft !== onRight) {
      if (!rightSide.items.has(onLeft)) {
        take(live[l++], undefined);
        continue;
      }
      if (done.has(onLeft)) l++;
    }
    if (onRight !== undefined) {
      done.add(onRight);
      take(leftSide.items.get(onRight), rightSide.items.get(onRight));
      if (onLeft === onRight) l++;
      r++;
      if (shared[turn] === onRight) turn++;
    }
  }
  return out.length > 0 ? out : undefined;
}
