import { type ApiError, plainError, unprocessable } from "../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { getMember } from "../../base/util/members.ts";
import { goTypeOf, printGoText, printGoValue } from "./strategic-print.ts";

/** The directive of an object or a list of objects. */
export const DIRECTIVE = "$patch";

/** 500: the value has the wrong type. */
export function wrongType(expected: "map[string]interface {}" | "[]interface {}", value: Json | undefined): ApiError {
  return plainError(500, `expected a ${expected}, but received a ${goTypeOf(value)}`);
}

/** 500: the directive is unknown. */
export function unknownDirective(directive: Json | undefined, holder: JsonObject): ApiError {
  return plainError(500, `unknown patch type: ${printGoText(directive)} in map: ${printGoValue(holder)}`);
}

/** 500: a list item has no merge key. */
export function noMergeKey(item: JsonObject, mergeKey: string): ApiError {
  return plainError(500, `map: ${printGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

/** The merge key value of an item as a Map key. */
export function identityOf(value: Json | undefined): string {
  if (value !== null && typeof value === "object" && !isExactInteger(value)) {
    throw plainError(500, `runtime error: comparing uncomparable type ${goTypeOf(value)}`);
  }
  return `${goTypeOf(value)}:${printGoValue(value)}`;
}

/** The common type of all items of both lists. Throws if types differ, items are lists, or there are no items. */
export function itemTypeOf(original: readonly Json[], patch: readonly Json[]): string {
  let type: string | undefined;
  for (const item of [...original, ...patch]) {
    const itemType = goTypeOf(item);
    if (type === undefined) {
      if (item === null) throw plainError(500, "runtime error: invalid memory address or nil pointer dereference");
      if (Array.isArray(item)) throw unprocessable();
      type = itemType;
    } else if (type !== itemType) {
      throw plainError(500, `list element types are not identical: ${printGoValue([[...original], [...patch]])}`);
    }
  }
  if (type === undefined) throw plainError(500, "no elements in any of the given slices");
  return type;
}

/** Removes duplicate scalars. The first one is kept. */
export function withoutDuplicates(list: readonly Json[]): Json[] {
  const seen = new Set<string>();
  return list.filter((item) => {
    const identity = identityOf(item);
    return !seen.has(identity) && seen.add(identity);
  });
}

/** Removes the scalars in `removed`. */
export function without(list: readonly Json[], removed: readonly Json[]): Json[] {
  const identities = new Set(removed.map(identityOf));
  return list.filter((item) => !identities.has(identityOf(item)));
}

/** The order of the items of a merged list. */
export interface ListOrder {
  /** The order of the items in the patch. */
  readonly wanted: readonly Json[];
  /** The order of the items before the patch. */
  readonly before: readonly Json[];
  /** Empty for a list of scalars. */
  readonly mergeKey: string;
  readonly itemType: string;
}

/**
 * Sorts the items in the order of the patch. Items that are not in the patch keep their order and, where possible,
 * their place relative to the others. By example, with `before` a b c:
 *   wanted c a      gives  b c a
 *   wanted x        gives  x a b c   (merged items x a b c)
 *   wanted b        gives  a b c
 */
export function ordered(merged: readonly Json[], order: ListOrder): Json[] {
  const named: Json[] = [];
  const others: Json[] = [];
  const strange = order.mergeKey === "" ? -1 : order.wanted.findIndex((item) => !isObject(item));
  if (strange >= 0 && merged.length > 0) throw plainError(500, `value for key ${strange} is not a map`);
  const wanted = new Set(order.wanted.map((item) => identityInOrder(item, order)));
  for (const item of merged) (wanted.has(requiredIdentity(item, order)) ? named : others).push(item);
  const positions = positionsIn(order.before, order);
  const positionOf = (item: Json) => positions.get(identityInOrder(item, order)) ?? -1;
  return interleave(sorted(others, order.before, order), sorted(named, order.wanted, order), positionOf);
}

function interleave(others: readonly Json[], named: readonly Json[], positionOf: (item: Json) => number): Json[] {
  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    const position = positionOf(item);
    for (let other = others[next]; other !== undefined; other = others[next]) {
      const otherPosition = positionOf(other);
      if (position < 0 || otherPosition < 0 || otherPosition >= position) break;
      result.push(other);
      next++;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function sorted(items: readonly Json[], by: readonly Json[], order: ListOrder): Json[] {
  if (isMapType(order)) for (const item of [...items, ...by]) requiredIdentity(item, order);
  const positions = positionsIn(by, order);
  const kept = items.filter((item) => !isDeletion(item, order));
  const deletions = items.filter((item) => isDeletion(item, order));
  const positionOf = (item: Json) => positions.get(identityInOrder(item, order)) ?? -1;
  return [...stableSort(kept, positionOf), ...deletions];
}

const isMapType = (order: ListOrder): boolean => order.itemType === "map[string]interface {}";
const isDeletion = (item: Json, order: ListOrder): boolean =>
  isMapType(order) && isObject(item) && item[DIRECTIVE] === "delete";

/** Longer lists with items of unknown position are sorted in n log n, without Go's exact order. */
const SHORT = 20;

function stableSort(items: Json[], positionOf: (item: Json) => number): Json[] {
  const entries = items.map((item) => ({ item, position: positionOf(item) }));
  if (items.length > SHORT || entries.every(({ position }) => position >= 0)) {
    return entries.sort((left, right) => left.position - right.position).map(({ item }) => item);
  }
  // Compat: in `normalizeSliceOrder`, an item that is not in `$setElementOrder` is less than any item it is compared
  // with, and vice versa.
  for (let i = 1; i < entries.length; i++) {
    for (let j = i; j > 0; j--) {
      const [left, right] = [entries[j - 1], entries[j]];
      if (left === undefined || right === undefined) break;
      if (left.position >= 0 && right.position >= 0 && right.position >= left.position) break;
      entries[j - 1] = right;
      entries[j] = left;
    }
  }
  return entries.map(({ item }) => item);
}

function positionsIn(list: readonly Json[], order: ListOrder): Map<string, number> {
  const positions = new Map<string, number>();
  list.forEach((item, index) => {
    const identity = identityInOrder(item, order);
    if (!positions.has(identity)) positions.set(identity, index);
  });
  return positions;
}

function identityInOrder(item: Json, order: ListOrder): string {
  if (order.mergeKey === "" || !isMapType(order)) return identityOf(item);
  return identityOf(isObject(item) ? getMember(item, order.mergeKey) : undefined);
}

function requiredIdentity(item: Json, { mergeKey }: ListOrder): string {
  if (mergeKey === "") return identityOf(item);
  if (!isObject(item)) throw wrongType("map[string]interface {}", item);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return identityOf(item[mergeKey]);
}
