import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { EMPTY, type FieldSet, isEmpty, type MutableFieldSet, union } from "./field-set.ts";
import { compareElements, fieldElement, type PathElement, sortByElement } from "./path-element.ts";
import type { ListShape, MapShape, Shape } from "./shape.ts";
import { deduce, itemElement, sameAlternative, sameValue, typedMember, typedValue } from "./typed.ts";
import { itemsOf, wholeOf } from "./whole.ts";

/** The difference of two values. No path is in more than one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Options of a comparison. */
export interface CompareOptions {
  /** Uses the value as it is, not as a Go type would decode it. */
  readonly leftIsRaw?: boolean;
  readonly rightIsRaw?: boolean;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

/** Nodes below one path. Undefined if there is no such difference. */
interface Difference {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

type Sort = keyof Difference;
type Value = Json | undefined;

/** Compares two objects of one shape. Throws TypedError. */
export function compare(shape: Shape, left: JsonObject, right: JsonObject, options: CompareOptions = {}): Comparison {
  const found = differ(shape, left, right, options);
  if (found === undefined) return SAME;
  return { added: found.added ?? EMPTY, modified: found.modified ?? EMPTY, removed: found.removed ?? EMPTY };
}

/** All paths that differ. */
export function touchedBy({ added, modified, removed }: Comparison): FieldSet {
  return union(union(added, modified), removed);
}

function differ(shape: Shape, left: Value, right: Value, raw: CompareOptions): Difference | undefined {
  if (left === right) return undefined;
  if (right === undefined)
    return left === undefined ? undefined : { removed: wholeOf(shape, left, raw.leftIsRaw !== true) };
  if (left === undefined) {
    return isLeaf(right) ? ADDED : { added: wholeOf(shape, right, raw.rightIsRaw !== true) };
  }
  const leftShape = deduce(shape, left);
  const rightShape = deduce(shape, right);
  if (sameAlternative(leftShape, rightShape)) return differAs(rightShape, left, right, raw);
  return bothOf(differAs(leftShape, left, right, raw), differAs(rightShape, left, right, raw));
}

const isLeaf = (value: Json): boolean => typeof value !== "object" || value === null;

function bothOf(first: Difference | undefined, second: Difference | undefined): Difference | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const join = (sort: Sort): FieldSet | undefined => {
    const [one, other] = [first[sort], second[sort]];
    if (one === undefined || other === undefined) return one ?? other;
    // An empty node is a member, but `union` would ignore it.
    return union({ x: one }, { x: other }).x;
  };
  return { added: join("added"), modified: join("modified"), removed: join("removed") };
}

function differAs(shape: Shape, left: Json, right: Json, raw: CompareOptions): Difference | undefined {
  if (shape.map !== undefined) return differAsMaps(shape.map, left, right, raw);
  if (shape.list === undefined || shape.scalar !== undefined) return differAsLeaves(left, right);
  return differAsLists(shape.list, left, right, raw);
}

const ADDED: Difference = { added: EMPTY };
const REMOVED: Difference = { removed: EMPTY };
const MODIFIED: Difference = { modified: EMPTY };

function differAsLeaves(left: Json, right: Json): Difference | undefined {
  return sameValue(left, right) ? undefined : MODIFIED;
}

/** Like `differAsLeaves`, but zeros that are not written count as omitted. */
function differAsAtoms(shape: Shape, left: Json, right: Json, raw: CompareOptions): Difference | undefined {
  if (sameValue(left, right)) return undefined;
  const typedLeft = raw.leftIsRaw === true ? left : typedValue(shape, left);
  return differAsLeaves(typedLeft, raw.rightIsRaw === true ? right : typedValue(shape, right));
}

function differAsMaps(shape: MapShape, left: Json, right: Json, raw: CompareOptions): Difference | undefined {
  if (shape.isAtomic) return differAsAtoms({ map: shape }, left, right, raw);
  const leftMap = isObject(left) ? left : undefined;
  const rightMap = isObject(right) ? right : undefined;
  const changed: ChangedChild[] = [];
  const walk: MapWalk = { shape, left: leftMap, right: rightMap, raw, changed };
  let isEmptyOnBoth = true;
  for (const name in leftMap) if (differAt(walk, name)) isEmptyOnBoth = false;
  for (const name in rightMap) {
    if (!has(leftMap, name) && differAt(walk, name)) isEmptyOnBoth = false;
  }
  // A field that neither side contains is the same zero on both, unless one side is missing as a whole.
  if (leftMap === undefined || rightMap === undefined || raw.leftIsRaw === true || raw.rightIsRaw === true) {
    for (const { name } of shape.written()) {
      if (has(leftMap, name) || has(rightMap, name)) continue;
      if (differAt(walk, name)) isEmptyOnBoth = false;
    }
  }
  // Both are empty: compared as leaves, so that null and empty differ.
  if (isEmptyOnBoth) return leftMap && rightMap ? undefined : differAsLeaves(left, right);
  if (changed.length > 1) changed.sort(compareChildren);
  return assemble(changed);
}

// A member may be called `constructor`.
const has = (map: JsonObject | undefined, name: string): boolean =>
  map !== undefined && getMember(map, name) !== undefined;

/** The difference at a child. `order` is its index among declared fields, undefined for others. */
interface ChangedChild {
  readonly element: PathElement;
  readonly order: number | undefined;
  readonly difference: Difference;
}

interface MapWalk {
  readonly shape: MapShape;
  readonly left: JsonObject | undefined;
  readonly right: JsonObject | undefined;
  readonly raw: CompareOptions;
  readonly changed: ChangedChild[];
}

/** Adds the difference at one member. Returns false if neither side has it. */
function differAt({ shape, left, right, raw, changed }: MapWalk, name: string): boolean {
  const field = shape.fields().get(name);
  const held = left && getMember(left, name);
  const given = right && getMember(right, name);
  const isLeftTyped = left !== undefined && raw.leftIsRaw !== true;
  const leftMember = isLeftTyped ? typedMember(field, held) : held;
  const rightMember = right === undefined || raw.rightIsRaw === true ? given : typedMember(field, given);
  if (leftMember === undefined && rightMember === undefined) return false;
  const below = field === undefined ? shape.values() : field.shape();
  const difference = below === undefined ? undefined : differ(below, leftMember, rightMember, raw);
  if (difference !== undefined)
    changed.push({ element: field?.element ?? fieldElement(name), order: field?.order, difference });
  return true;
}

function compareChildren(left: ChangedChild, right: ChangedChild): number {
  if (left.order !== undefined && right.order !== undefined) return left.order - right.order;
  return compareElements(left.element, right.element);
}

/** The difference below a path that both sides have. Undefined if there is none. */
function assemble(changed: readonly ChangedChild[]): Difference | undefined {
  if (changed.length === 0) return undefined;
  let added: MutableFieldSet | undefined;
  let modified: MutableFieldSet | undefined;
  let removed: MutableFieldSet | undefined;
  for (const { element, difference: below } of changed) {
    if (below.added !== undefined) {
      added ??= {};
      added[element] = below.added;
    }
    if (below.modified !== undefined) {
      modified ??= {};
      modified[element] = below.modified;
    }
    if (below.removed !== undefined) {
      removed ??= {};
      removed[element] = below.removed;
    }
  }
  return { added, modified, removed };
}

function differAsLists(shape: ListShape, left: Json, right: Json, raw: CompareOptions): Difference | undefined {
  const leftItems = Array.isArray(left) ? left : [];
  const rightItems = Array.isArray(right) ? right : [];
  if (shape.isAtomic) return differAsAtoms({ list: shape }, left, right, raw);
  if (leftItems.length === 0 && rightItems.length === 0) return differAsLeaves(left, right);
  const changed =
    rightItems.length === 0 || leftItems.length === 0
      ? differOnOneSide(shape, leftItems, rightItems, raw)
      : differOnBothSides(shape, leftItems, rightItems, raw);
  return assemble(sortByElement(changed, ({ element }) => element));
}

/** Like `differOnBothSides`, for a list that is empty on one side. */
function differOnOneSide(shape: ListShape, left: Json[], right: Json[], raw: CompareOptions): ChangedChild[] {
  const isLeft = left.length > 0;
  const isTyped = (isLeft ? raw.leftIsRaw : raw.rightIsRaw) !== true;
  return itemsOf(shape, isLeft ? left : right, isTyped).map(([element, node]) => ({
    element,
    order: undefined,
    difference: isLeft ? { removed: node } : { added: node },
  }));
}

function differOnBothSides(shape: ListShape, left: Json[], right: Json[], raw: CompareOptions): ChangedChild[] {
  const leftGroups = groupsOf(shape, left, raw.leftIsRaw !== true);
  const rightGroups = groupsOf(shape, right, raw.rightIsRaw !== true);
  const elements = [...leftGroups.keys()];
  for (const element of rightGroups.keys()) if (!leftGroups.has(element)) elements.push(element);
  const changed: ChangedChild[] = [];
  for (const element of elements) {
    const difference = differInGroup(shape.items(), leftGroups.get(element) ?? [], rightGroups.get(element) ?? [], raw);
    if (difference !== undefined) changed.push({ element, order: undefined, difference });
  }
  return changed;
}

function groupsOf(shape: ListShape, items: readonly Json[], isTyped: boolean): Map<PathElement, Json[]> {
  const groups = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = itemElement(shape, item, isTyped);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

/** Items with the same key count as one opaque item. */
function differInGroup(shape: Shape, left: Json[], right: Json[], raw: CompareOptions): Difference | undefined {
  if (left.length <= 1 && right.length <= 1) return differ(shape, left[0], right[0], raw);
  if (left.length >= 2 && right.length >= 2) return sameValue(left, right) ? undefined : MODIFIED;
  if (left.length >= 2)
    return bothOf(right[0] === undefined ? undefined : differ(shape, undefined, right[0], raw), REMOVED);
  return bothOf(left[0] === undefined ? undefined : differ(shape, left[0], undefined, raw), ADDED);
}

/** Whether there is no difference. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}
