import { isObject, type Json } from "../../../base/api/object.ts";
import {
  canonicalElement,
  compareElements,
  fieldName,
  type PathElement,
  PathElementError,
  sortByElement,
} from "./path-element.ts";
import type { Shape } from "./shape.ts";

/**
 * A set of field paths in its wire format (FieldsV1). By example:
 *   {"f:spec":{"f:replicas":{}}}                    .spec.replicas
 *   {"f:data":{".":{},"f:a":{}}}                    .data and .data.a
 *   {"f:x":{}}                                      .x: a node without members is a member itself
 * Sets are immutable, share parts with other sets, and have their elements in canonical order.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A set under construction. */
export interface MutableFieldSet {
  [element: PathElement]: FieldSet;
}

/** The set without members. As a node inside another set: a member without members below it. */
export const EMPTY: FieldSet = {};

/** FieldsV1 is malformed. The message is for people. */
export class FieldSetError extends Error {}

/** Whether a set has no members. Only for whole sets: inside another set, an empty node is a member. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether a node is itself a member of the set that contains it. */
export function isMember(node: FieldSet): boolean {
  return "." in node || isEmpty(node);
}

/** Whether a node has members below itself. */
export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== ".") return true;
  return false;
}

/** Whether the set contains this path. */
export function has(set: FieldSet, ...path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** The set of these paths, given as fields joined by dots: "metadata.name". */
export function fieldSetOf(...paths: readonly string[]): FieldSet {
  return paths.reduce<FieldSet>((set, path) => {
    const single = path.split(".").reduceRight<FieldSet>((node, name) => ({ [`f:${name}`]: node }), EMPTY);
    return union(set, single);
  }, EMPTY);
}

/** Parses FieldsV1 of a client, in any order and notation. Throws FieldSetError. */
export function parseFieldSet(value: Json | undefined): FieldSet {
  if (value === undefined || value === null) return EMPTY;
  const node = parseNode(value);
  return "." in node ? withSelf(node, false) : node;
}

function parseNode(value: Json | undefined): FieldSet {
  if (value === null || value === undefined) return EMPTY;
  if (!isObject(value)) throw new FieldSetError("expected an object in managed fields");
  const node: MutableFieldSet = {};
  let isSelf = false;
  for (const [text, child] of Object.entries(value)) {
    if (text === ".") {
      isSelf = true;
      continue;
    }
    const element = readElement(text);
    if (element !== undefined) node[element] = parseNode(child);
  }
  const sorted = inOrder(node);
  return isSelf ? withSelf(sorted, true) : sorted;
}

function readElement(text: string): PathElement | undefined {
  try {
    return canonicalElement(text);
  } catch (error) {
    if (error instanceof PathElementError) throw new FieldSetError(error.message);
    throw error;
  }
}

/** The node with or without itself as a member. A node without other members always stays a member. */
function withSelf(node: FieldSet, isSelf: boolean): FieldSet {
  if (isSelf === "." in node || !hasChildren(node)) return hasChildren(node) ? node : EMPTY;
  const out: MutableFieldSet = isSelf ? { ".": EMPTY } : {};
  for (const element in node) if (element !== ".") out[element] = node[element] ?? EMPTY;
  return out;
}

/** Sorts the elements canonically. Returns the node itself if they are already sorted. */
function inOrder(node: FieldSet): FieldSet {
  let last: PathElement | undefined;
  let isSorted = true;
  for (const element in node) {
    if (element === ".") {
      if (last !== undefined) isSorted = false;
    } else if (last !== undefined && compareElements(last, element) > 0) {
      isSorted = false;
    }
    if (!isSorted) break;
    if (element !== ".") last = element;
  }
  if (isSorted) return node;
  const out: MutableFieldSet = "." in node ? { ".": EMPTY } : {};
  const elements = Object.keys(node).filter((element) => element !== ".");
  for (const element of sortByElement(elements, (element) => element)) out[element] = node[element] ?? EMPTY;
  return out;
}

/** The members of either set. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmpty(right)) return left;
  if (isEmpty(left)) return right;
  const out: MutableFieldSet = { ...left };
  let isChanged = false;
  for (const element in right) {
    const mine = left[element];
    const other = right[element] ?? EMPTY;
    const both = mine === undefined ? other : unionOfNodes(mine, other);
    if (both === mine) continue;
    out[element] = both;
    isChanged = true;
  }
  return isChanged ? inOrder(out) : left;
}

function unionOfNodes(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  const isSelf = isMember(left) || isMember(right);
  if (!hasChildren(left)) return withSelf(right, isSelf);
  if (!hasChildren(right)) return withSelf(left, isSelf);
  return withSelf(union(left, right), isSelf);
}

/** The members of the left set that are not in the right one. Members below a removed one are kept. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, false) ?? EMPTY;
}

/** Like `difference`, but also removes members below a removed one. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, true) ?? EMPTY;
}

/** The remaining members. Undefined if there are none, `left` itself if nothing is removed. */
function subtract(left: FieldSet, right: FieldSet, isRecursive: boolean): FieldSet | undefined {
  let changed: Map<PathElement, FieldSet | undefined> | undefined;
  for (const element in right) {
    if (element === ".") continue;
    const node = left[element];
    if (node === undefined) continue;
    const rest = subtractNode(node, right[element] ?? EMPTY, isRecursive);
    if (rest === node) continue;
    changed ??= new Map();
    changed.set(element, rest);
  }
  if (changed === undefined) return left;
  // Builds a new object: objects with deleted members are slow to use and to print.
  const out: MutableFieldSet = {};
  for (const element in left) {
    const node = changed.has(element) ? changed.get(element) : left[element];
    if (node !== undefined) out[element] = node;
  }
  return isEmpty(out) ? undefined : out;
}

function subtractNode(node: FieldSet, other: FieldSet, isRecursive: boolean): FieldSet | undefined {
  const isRemoved = isMember(other);
  if (isRemoved && isRecursive) return undefined;
  const isSelf = isMember(node) && !isRemoved;
  if (!hasChildren(node)) return isSelf ? node : undefined;
  const rest = subtract(node, other, isRecursive);
  if (rest === undefined || !hasChildren(rest)) return isSelf ? EMPTY : undefined;
  return withSelf(rest, isSelf);
}

/** The members of both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const element in left) {
    if (element === ".") continue;
    const other = right[element];
    const mine = left[element];
    if (other === undefined || mine === undefined) continue;
    const isSelf = isMember(mine) && isMember(other);
    const below = hasChildren(mine) && hasChildren(other) ? intersection(mine, other) : EMPTY;
    if (!isEmpty(below)) out[element] = withSelf(below, isSelf);
    else if (isSelf) out[element] = EMPTY;
  }
  return out;
}

/** The members without members below them. */
export function leaves(set: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const element in set) if (element !== ".") out[element] = leaves(set[element] ?? EMPTY);
  return out;
}

/** Adds every declared field above a member as a member. Map keys and list items are not added. */
export function withNamedFields(set: FieldSet, shape: Shape | undefined): FieldSet {
  const out: MutableFieldSet = {};
  for (const element in set) {
    const node = set[element] ?? EMPTY;
    if (element === "." || !hasChildren(node)) {
      out[element] = node;
      continue;
    }
    const { isDeclared, below } = placeOf(element, shape);
    const filled = withNamedFields(node, below);
    out[element] = isDeclared ? withSelf(filled, true) : filled;
  }
  return out;
}

/**
 * Whether `set` contains every member of `others` and every node above these members, with declared fields as members
 * like in `withNamedFields`.
 */
export function holdsAll(set: FieldSet, others: FieldSet, shape: Shape | undefined): boolean {
  for (const element in others) {
    if (element === ".") continue;
    const other = others[element] ?? EMPTY;
    const node = set[element];
    if (node === undefined) return false;
    const isLeaf = !hasChildren(other);
    if (isLeaf && isMember(node)) continue;
    const { isDeclared, below } = placeOf(element, shape);
    if (!isDeclared && !(isMember(other) && isMember(node))) return false;
    if (!isLeaf && !holdsAll(node, other, below)) return false;
  }
  return true;
}

/** Whether an element is a declared field, and the shape of its value. */
function placeOf(element: PathElement, shape: Shape | undefined): { isDeclared: boolean; below: Shape | undefined } {
  const name = fieldName(element);
  if (name === undefined) return { isDeclared: false, below: itemShape(shape, element) };
  const field = shape?.map?.fields().get(name);
  return { isDeclared: field !== undefined, below: field === undefined ? shape?.map?.values() : field.shape() };
}

function itemShape(shape: Shape | undefined, element: PathElement): Shape | undefined {
  return element.startsWith("k:") ? shape?.list?.items() : undefined;
}

/** All members in canonical order, those of a node before those further below. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  for (const element in set) {
    if (element !== "." && isMember(set[element] ?? EMPTY)) yield [...prefix, element];
  }
  for (const element in set) {
    const node = set[element];
    if (element !== "." && node !== undefined && hasChildren(node)) yield* pathsOf(node, [...prefix, element]);
  }
}

/** Whether two sets have the same members. */
export function sameSet(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  for (const element in left) {
    const other = right[element];
    if (other === undefined || !sameSet(left[element] ?? EMPTY, other)) return false;
  }
  for (const element in right) if (!(element in left)) return false;
  return true;
}
