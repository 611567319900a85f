import { addAll } from "../base/util/add-all.ts";
import type { Sequence } from "../base/util/sequence.ts";

const maxWidth = 64;
const mergeBelow = 16;
const mergeUpTo = 48;

/**
 * A leaf has `keys` and `values` of equal length. An inner node has `children`, and `keys[i]` is a lower bound of child
 * i; `keys[0]` is never read, so it may be outdated.
 */
interface TreeNode<V> {
  /** The one map that may change this node in place; all other maps copy it first. */
  readonly owner: object;
  readonly keys: string[];
  readonly values: V[];
  readonly children: TreeNode<V>[] | undefined;
  /** Entries in the whole subtree. */
  size: number;
}

/** A part of a map. `from` is inclusive; `after` and `to` are exclusive. `after` takes precedence over `from`. */
export interface KeyRange {
  readonly from?: string;
  readonly after?: string;
  readonly to?: string;
  readonly limit?: number;
}

/** Compares the UTF-8 bytes of two keys: negative, zero or positive. JavaScript's `<` compares UTF-16 units instead. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rankOfUnit(left) - rankOfUnit(right);
  }
  return a.length - b.length;
}

/** The smallest upper bound of all keys that start with `prefix`; undefined if there is none. */
export function prefixEnd(prefix: string): string | undefined {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const rank = rankOfUnit(prefix.charCodeAt(last));
    if (rank < 0xffff) return prefix.slice(0, last) + String.fromCharCode(unitOfRank(rank + 1));
  }
  return undefined;
}

// Characters beyond U+FFFF use the units D800..DFFF, but their UTF-8 bytes sort after those of E000..FFFF.
function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function unitOfRank(rank: number): number {
  if (rank < 0xd800) return rank;
  return rank < 0xf800 ? rank + 0x800 : rank - 0x2000;
}

const wideUnits = /[\ud800-\uffff]/;

/**
 * A map in byte order of its keys. `clone` takes constant time: both maps share all nodes, and a change copies the few
 * nodes on the path to the changed key. Changes of one map are not visible in the other.
 */
export class OrderedMap<V extends NonNullable<unknown>> {
  #owner: object = {};
  #root: TreeNode<V> = newLeaf(this.#owner, [], []);
  // As long as no key has a unit from D800 on, the faster native comparison gives byte order.
  #wide = false;

  /** How many keys there are. */
  get size(): number {
    return this.#root.size;
  }

  /** A second map with the same content, independent from now on. */
  clone(): OrderedMap<V> {
    const copy = new OrderedMap<V>();
    copy.#root = this.#root;
    copy.#wide = this.#wide;
    this.#owner = {};
    return copy;
  }

  /** Undefined if the key does not exist. */
  get(key: string): V | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = childAt(node.children, this.#childIndex(node, key));
    const index = this.#lowerBound(node.keys, key);
    return node.keys[index] === key ? node.values[index] : undefined;
  }

  /** Returns the previous value, if any. */
  set(key: string, value: V): V | undefined {
    if (!this.#wide && wideUnits.test(key)) this.#wide = true;
    const root = this.#own(this.#root);
    this.#root = root;
    const previous = this.#insert(root, key, value);
    if (root.keys.length > maxWidth) {
      const right = this.#split(root, key);
      this.#root = newInner(this.#owner, [root.keys[0] ?? "", right.keys[0] ?? ""], [root, right]);
    }
    return previous;
  }

  /** Returns the deleted value; undefined if the key does not exist. */
  delete(key: string): V | undefined {
    // Checked first so that deleting a missing key copies no shared nodes.
    if (this.get(key) === undefined) return undefined;
    let root = this.#own(this.#root);
    const previous = this.#remove(root, key);
    while (root.children?.length === 1) root = childAt(root.children, 0);
    this.#root = root.size === 0 ? newLeaf(this.#owner, [], []) : root;
    return previous;
  }

  /** The values of a range, in key order. Takes time proportional to the result. */
  values(range: KeyRange = {}): V[] {
    const out: V[] = [];
    const limit = range.limit === undefined || range.limit === 0 ? Number.POSITIVE_INFINITY : range.limit;
    this.#collect(this.#root, range, limit, out);
    return out;
  }

  /** A view of the values of a range, in key order, without copying. The map must not change any more. */
  slice(range: KeyRange = {}): Sequence<V> {
    const { from, after, to } = range;
    const start = after === undefined ? (from === undefined ? 0 : this.#rank(from, false)) : this.#rank(after, true);
    const end = to === undefined ? this.size : this.#rank(to, false);
    return new MapSlice(this.#root, start, Math.max(0, end - start));
  }

  /** Keys and values in order, starting at `from` (inclusive). The map must not change during iteration. */
  entries(from?: string): Generator<readonly [string, V]> {
    return this.#walk(this.#root, from);
  }

  /** How many keys lie strictly between the two bounds; undefined means unbounded. Takes logarithmic time. */
  countRange(fromExclusive: string | undefined, toExclusive: string | undefined): number {
    const end = toExclusive === undefined ? this.size : this.#rank(toExclusive, false);
    const start = fromExclusive === undefined ? 0 : this.#rank(fromExclusive, true);
    return Math.max(0, end - start);
  }

  #less(a: string, b: string): boolean {
    return this.#wide ? compareKeys(a, b) < 0 : a < b;
  }

  #lowerBound(keys: readonly string[], key: string): number {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#less(keys[middle] as string, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #upperBound(keys: readonly string[], key: string): number {
    const index = this.#lowerBound(keys, key);
    return keys[index] === key ? index + 1 : index;
  }

  /** The only child that can hold the key: the last one whose lower bound is not above it. */
  #childIndex(node: TreeNode<V>, key: string): number {
    let low = 1;
    let high = node.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#less(key, node.keys[middle] as string)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  #own(node: TreeNode<V>): TreeNode<V> {
    if (node.owner === this.#owner) return node;
    if (node.children === undefined) return newLeaf(this.#owner, node.keys.slice(), node.values.slice());
    return {
      owner: this.#owner,
      keys: node.keys.slice(),
      values: [],
      children: node.children.slice(),
      size: node.size,
    };
  }

  #insert(node: TreeNode<V>, key: string, value: V): V | undefined {
    if (node.children === undefined) {
      const index = this.#lowerBound(node.keys, key);
      const previous = node.keys[index] === key ? node.values[index] : undefined;
      if (previous !== undefined) {
        node.values[index] = value;
      } else {
        insertAt(node.keys, index, key);
        insertAt(node.values, index, value);
        node.size++;
      }
      return previous;
    }
    const index = this.#childIndex(node, key);
    const child = this.#own(childAt(node.children, index));
    node.children[index] = child;
    const previous = this.#insert(child, key, value);
    if (previous === undefined) node.size++;
    if (child.keys.length > maxWidth) {
      const right = this.#split(child, key);
      insertAt(node.keys, index + 1, right.keys[0] ?? "");
      insertAt(node.children, index + 1, right);
    }
    return previous;
  }

  /** Moves the upper part of a node that is too wide into a new right sibling. */
  #split(node: TreeNode<V>, inserted: string): TreeNode<V> {
    const width = node.keys.length;
    // Keys inserted in ascending order fill their nodes instead of leaving each half empty.
    const isAppend = !this.#less(inserted, node.keys[width - 1] ?? "");
    const at = isAppend ? width - 1 : width >>> 1;
    const keys = node.keys.splice(at);
    const right =
      node.children === undefined
        ? newLeaf(this.#owner, keys, node.values.splice(at))
        : newInner(this.#owner, keys, node.children.splice(at));
    node.size -= right.size;
    return right;
  }

  #remove(node: TreeNode<V>, key: string): V | undefined {
    node.size--;
    if (node.children === undefined) {
      const index = this.#lowerBound(node.keys, key);
      node.keys.splice(index, 1);
      return node.values.splice(index, 1)[0];
    }
    const index = this.#childIndex(node, key);
    const child = this.#own(childAt(node.children, index));
    node.children[index] = child;
    const previous = this.#remove(child, key);
    if (child.size === 0) {
      node.keys.splice(index, 1);
      node.children.splice(index, 1);
    } else if (child.keys.length < mergeBelow) {
      this.#mergeWithRight(node, index - 1) || this.#mergeWithRight(node, index);
    }
    return previous;
  }

  #mergeWithRight(node: TreeNode<V>, index: number): boolean {
    const left = node.children?.[index];
    const right = node.children?.[index + 1];
    if (left === undefined || right === undefined || left.keys.length + right.keys.length > mergeUpTo) return false;
    const merged = this.#own(left);
    const width = merged.keys.length;
    addAll(merged.keys, right.keys);
    addAll(merged.values, right.values);
    if (merged.children) addAll(merged.children, right.children ?? []);
    // The first key of an inner node may be outdated; the bound in its parent is exact.
    if (merged.children !== undefined) merged.keys[width] = node.keys[index + 1] ?? "";
    merged.size += right.size;
    node.children?.splice(index, 2, merged);
    node.keys.splice(index + 1, 1);
    return true;
  }

  #collect(node: TreeNode<V>, range: KeyRange, limit: number, out: V[]): void {
    const { from, after, to } = range;
    if (node.children === undefined) {
      const start = this.#startIndex(node.keys, range);
      const last = node.keys.at(-1);
      const end =
        to === undefined || last === undefined || this.#less(last, to)
          ? node.keys.length
          : this.#lowerBound(node.keys, to);
      for (let i = start; i < end && out.length < limit; i++) out.push(node.values[i] as V);
      return;
    }
    const start = after ?? from;
    const first = start === undefined ? 0 : this.#childIndex(node, start);
    for (let i = first; i < node.children.length && out.length < limit; i++) {
      if (i > first && to !== undefined && !this.#less(node.keys[i] as string, to)) return;
      this.#collect(childAt(node.children, i), i === first ? range : { to }, limit, out);
    }
  }

  #startIndex(keys: readonly string[], range: KeyRange): number {
    if (range.after !== undefined) return this.#upperBound(keys, range.after);
    return range.from === undefined ? 0 : this.#lowerBound(keys, range.from);
  }

  *#walk(node: TreeNode<V>, from: string | undefined): Generator<readonly [string, V]> {
    if (node.children === undefined) {
      const start = from === undefined ? 0 : this.#lowerBound(node.keys, from);
      for (let i = start; i < node.keys.length; i++) yield [node.keys[i] as string, node.values[i] as V];
      return;
    }
    const first = from === undefined ? 0 : this.#childIndex(node, from);
    for (let i = first; i < node.children.length; i++) {
      yield* this.#walk(childAt(node.children, i), i === first ? from : undefined);
    }
  }

  /** How many keys are smaller than `key`, or smaller or equal. */
  #rank(key: string, orEqual: boolean): number {
    let node = this.#root;
    let rank = 0;
    while (node.children !== undefined) {
      const index = this.#childIndex(node, key);
      for (let i = 0; i < index; i++) rank += childAt(node.children, i).size;
      node = childAt(node.children, index);
    }
    return rank + (orEqual ? this.#upperBound(node.keys, key) : this.#lowerBound(node.keys, key));
  }
}

/** A view of a range of a map. Values are looked up on access; sequential access is the fastest. */
class MapSlice<V> implements Sequence<V> {
  readonly length: number;
  readonly #root: TreeNode<V>;
  readonly #start: number;
  /** The values of the leaf read last, and the position of its first value. */
  #values: readonly V[] = [];
  #first = 0;

  constructor(root: TreeNode<V>, start: number, length: number) {
    this.#root = root;
    this.#start = start;
    this.length = length;
  }

  at(index: number): V | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const place = this.#start + index;
    if (place < this.#first || place >= this.#first + this.#values.length) this.#findLeaf(place);
    return this.#values[place - this.#first];
  }

  *[Symbol.iterator](): Generator<V> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as V;
  }

  #findLeaf(place: number): void {
    let node = this.#root;
    let first = 0;
    while (node.children !== undefined) {
      let index = 0;
      for (; place >= first + childAt(node.children, index).size; index++) first += childAt(node.children, index).size;
      node = childAt(node.children, index);
    }
    this.#values = node.values;
    this.#first = first;
  }
}

function newLeaf<V>(owner: object, keys: string[], values: V[]): TreeNode<V> {
  return { owner, keys, values, children: undefined, size: keys.length };
}

function newInner<V>(owner: object, keys: string[], children: TreeNode<V>[]): TreeNode<V> {
  let size = 0;
  for (const child of children) size += child.size;
  return { owner, keys, values: [], children, size };
}

// Indexes come from searches within the node, so the element is always there.
function childAt<V>(children: readonly TreeNode<V>[], index: number): TreeNode<V> {
  return children[index] as TreeNode<V>;
}

function insertAt<T>(array: T[], index: number, item: T): void {
  if (index === array.length) array.push(item);
  else array.splice(index, 0, item);
}
