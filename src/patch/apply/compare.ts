import type { Json, JsonObject } from "../../api/object.ts";
import { EMPTY, type FieldSet, isEmpty, type MutableFieldSet, union } from "./field-set.ts";
import { compareElements, compareText, type PathElement } from "./path-element.ts";
import type { ListShape, MapShape, Shape } from "./shape.ts";
import { deduce, isMap, itemElement, memberShape, sameAlternative, sameValue, typedMember } from "./typed.ts";

/** What differs between two values. No path is in more than one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Options of a comparison. */
export interface CompareOptions {
  /** The right value is taken as it is, rather than as its typed original would be. */
  readonly rightIsRaw?: boolean;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

/** Nodes below one path, each undefined when nothing of its sort differs there. */
interface Difference {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

type Sort = keyof Difference;
type Value = Json | undefined;

/** How two objects of one shape differ. The left one counts as its typed original. Throws TypedError. */
export function compare(shape: Shape, left: JsonObject, right: JsonObject, options: CompareOptions = {}): Comparison {
  const found = differ(shape, left, right, options.rightIsRaw === true);
  if (found === undefined) return SAME;
  return { added: found.added ?? EMPTY, modified: found.modified ?? EMPTY, removed: found.removed ?? EMPTY };
}

/** All paths that differ. */
export function touchedBy({ added, modified, removed }: Comparison): FieldSet {
  return union(union(added, modified), removed);
}

function differ(shape: Shape, left: Value, right: Value, isRaw: boolean): Difference | undefined {
  if (left === right) return undefined;
  const leftShape = deduce(shape, left);
  const rightShape = deduce(shape, right);
  if (right === undefined) return differAs(leftShape, left, right, isRaw);
  if (left === undefined || sameAlternative(leftShape, rightShape)) return differAs(rightShape, left, right, isRaw);
  return bothOf(differAs(leftShape, left, right, isRaw), differAs(rightShape, left, right, isRaw));
}

function bothOf(first: Difference | undefined, second: Difference | undefined): Difference | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const join = (sort: Sort): FieldSet | undefined => {
    const [one, other] = [first[sort], second[sort]];
    if (one === undefined || other === undefined) return one ?? other;
    // An empty node is a member; a union would take it for nothing.
    return union({ x: one }, { x: other }).x;
  };
  return { added: join("added"), modified: join("modified"), removed: join("removed") };
}

function differAs(shape: Shape, left: Value, right: Value, isRaw: boolean): Difference | undefined {
  if (shape.map !== undefined) return differAsMaps(shape.map, left, right, isRaw);
  if (shape.list === undefined || shape.scalar !== undefined) return differAsLeaves(left, right);
  return differAsLists(shape.list, left, right, isRaw);
}

const ADDED: Difference = { added: EMPTY };
const REMOVED: Difference = { removed: EMPTY };
const MODIFIED: Difference = { modified: EMPTY };

function differAsLeaves(left: Value, right: Value): Difference | undefined {
  if (left === undefined) return ADDED;
  if (right === undefined) return REMOVED;
  return sameValue(left, right) ? undefined : MODIFIED;
}

function differAsMaps(shape: MapShape, left: Value, right: Value, isRaw: boolean): Difference | undefined {
  if (shape.isAtomic) return differAsLeaves(left, right);
  const leftMap = isMap(left) ? left : undefined;
  const rightMap = isMap(right) ? right : undefined;
  const names = namesOf(shape, leftMap, rightMap, isRaw);
  // Both empty: a leaf, so that null and empty remain two things.
  if (names.length === 0) return differAsLeaves(left, right);
  const fields = shape.fields();
  const builder = new Builder(left, right);
  for (const name of names) {
    const field = fields.get(name);
    const below = memberShape(shape, name);
    if (below === undefined) continue;
    const leftMember = leftMap === undefined ? undefined : typedMember(field, leftMap[name]);
    const given = rightMap?.[name];
    const rightMember = isRaw || rightMap === undefined ? given : typedMember(field, given);
    const found = differ(below, leftMember, rightMember, isRaw);
    if (found !== undefined) builder.add(`f:${name}`, found);
  }
  return builder.difference();
}

/** The names of members that one of the two sides has, in order. */
function namesOf(shape: MapShape, left: JsonObject | undefined, right: JsonObject | undefined, isRaw: boolean): string[] {
  const fields = shape.fields();
  const isOn = (side: JsonObject, name: string, raw: boolean): boolean =>
    (raw ? side[name] : typedMember(fields.get(name), side[name])) !== undefined;
  const names = new Set<string>();
  if (left !== undefined) {
    for (const name in left) if (isOn(left, name, false)) names.add(name);
    for (const field of shape.written()) names.add(field.name);
  }
  if (right !== undefined) {
    for (const name in right) if (isOn(right, name, isRaw)) names.add(name);
    if (!isRaw) for (const field of shape.written()) names.add(field.name);
  }
  const list = [...names];
  return list.length > 1 ? list.sort(compareText) : list;
}

/** Gathers what differs below one path, in the order in which it is added. */
class Builder {
  readonly #left: Value;
  readonly #right: Value;
  #added: MutableFieldSet | undefined;
  #modified: MutableFieldSet | undefined;
  #removed: MutableFieldSet | undefined;

  constructor(left: Value, right: Value) {
    this.#left = left;
    this.#right = right;
  }

  add(element: PathElement, { added, modified, removed }: Difference): void {
    if (added !== undefined) {
      this.#added ??= this.#left === undefined ? { ".": EMPTY } : {};
      this.#added[element] = added;
    }
    if (modified !== undefined) {
      this.#modified ??= {};
      this.#modified[element] = modified;
    }
    if (removed !== undefined) {
      this.#removed ??= this.#right === undefined ? { ".": EMPTY } : {};
      this.#removed[element] = removed;
    }
  }

  /** Undefined when nothing differs. What only one side has differs itself too. */
  difference(): Difference | undefined {
    const added = this.#added ?? (this.#left === undefined ? EMPTY : undefined);
    const removed = this.#removed ?? (this.#right === undefined ? EMPTY : undefined);
    if (added === undefined && removed === undefined && this.#modified === undefined) return undefined;
    return { added, modified: this.#modified, removed };
  }
}

function differAsLists(shape: ListShape, left: Value, right: Value, isRaw: boolean): Difference | undefined {
  const leftItems = Array.isArray(left) ? left : [];
  const rightItems = Array.isArray(right) ? right : [];
  if (shape.isAtomic || (leftItems.length === 0 && rightItems.length === 0)) return differAsLeaves(left, right);
  const leftGroups = groupsOf(shape, leftItems, true);
  const rightGroups = groupsOf(shape, rightItems, !isRaw);
  const elements = [...leftGroups.keys()];
  for (const element of rightGroups.keys()) if (!leftGroups.has(element)) elements.push(element);
  const changed: [PathElement, Difference][] = [];
  for (const element of elements) {
    const found = differInGroup(shape.items(), leftGroups.get(element) ?? [], rightGroups.get(element) ?? [], isRaw);
    if (found !== undefined) changed.push([element, found]);
  }
  if (changed.length > 1) changed.sort((one, other) => compareElements(one[0], other[0]));
  const builder = new Builder(left, right);
  for (const [element, found] of changed) builder.add(element, found);
  return builder.difference();
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
function differInGroup(shape: Shape, left: Json[], right: Json[], isRaw: boolean): Difference | undefined {
  if (left.length <= 1 && right.length <= 1) return differ(shape, left[0], right[0], isRaw);
  if (left.length >= 2 && right.length >= 2) return sameValue(left, right) ? undefined : MODIFIED;
  if (left.length >= 2) return bothOf(right[0] === undefined ? undefined : differ(shape, undefined, right[0], isRaw), REMOVED);
  return bothOf(left[0] === undefined ? undefined : differ(shape, left[0], undefined, isRaw), ADDED);
}

/** Whether nothing differs. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}
