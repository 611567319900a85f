import { spend } from "../cost/work.ts";
import { contains, equality } from "./equality.ts";
import { ArrayList, type CelError, ListValue, type Value } from "./value.ts";

/**
 * A list that the accumulator of map() and filter() appends to. Each step shares the array of the one before, so that a
 * comprehension takes linear time.
 */
export class GrowingList extends ListValue {
  private readonly shared: Value[];
  readonly size: number;

  constructor(shared: Value[], size: number) {
    super();
    this.shared = shared;
    this.size = size;
  }

  at(index: number): Value {
    return this.shared[index] as Value;
  }

  /** Appends a list. The result takes over the array, or copies it if another list has already taken it over. */
  with(items: ListValue): ListValue {
    const isOwn = this.shared.length === this.size;
    if (!isOwn || items.size > 1) spend(items.size + (isOwn ? 0 : this.size));
    const shared = isOwn ? this.shared : this.shared.slice(0, this.size);
    for (let i = 0; i < items.size; i++) shared.push(items.at(i));
    return new GrowingList(shared, shared.length);
  }
}

/** Two concatenated lists, without copying: cel-go's concatList. */
class ConcatList extends ListValue {
  override get goType(): string {
    return "*types.concatList";
  }
  private flat: Value[] | undefined;
  readonly size: number;
  private readonly head: ListValue;
  private readonly tail: ListValue;

  constructor(head: ListValue, tail: ListValue) {
    super();
    this.head = head;
    this.tail = tail;
    this.size = head.size + tail.size;
  }

  at(index: number): Value {
    this.flat ??= this.flatten();
    return this.flat[index] as Value;
  }

  /** Compat: concatList.Equal returns errors, unlike baseList.Equal. */
  override equals(other: Value): boolean | CelError {
    if (!(other instanceof ListValue) || other.size !== this.size) return false;
    let failed: CelError | undefined;
    for (let i = 0; i < this.size; i++) {
      const result = equality(this.at(i), other.at(i));
      if (result === false) return false;
      if (result !== true) failed ??= result;
    }
    return failed ?? true;
  }

  override contains(value: Value): boolean | CelError {
    let failed: CelError | undefined;
    for (const list of this.parts()) {
      const result = contains(list, value);
      if (result === true) return true;
      if (result !== false) failed ??= result;
    }
    return failed ?? false;
  }

  /** The lists it consists of, without nested ConcatLists. */
  private *parts(): Iterable<ListValue> {
    const open: ListValue[] = [this];
    for (let list = open.pop(); list !== undefined; list = open.pop()) {
      if (list instanceof ConcatList) open.push(list.tail, list.head);
      else yield list;
    }
  }

  private flatten(): Value[] {
    const items: Value[] = [];
    spend(this.size);
    const open: ListValue[] = [this];
    for (let list = open.pop(); list !== undefined; list = open.pop()) {
      if (list instanceof ConcatList && list.flat === undefined) open.push(list.tail, list.head);
      else for (let i = 0; i < list.size; i++) items.push(list.at(i));
    }
    return items;
  }
}

/** `a + b` of lists. */
export function concatLists(a: ListValue, b: ListValue): Value {
  if (a.concat !== undefined) return a.concat(b);
  if (a instanceof GrowingList) return a.with(b);
  if (a.size === 0) return b;
  return b.size === 0 ? a : new ConcatList(a, b);
}

/** The elements as an array. */
export function itemsOf(list: ListValue): readonly Value[] {
  if (list instanceof ArrayList) return list.items;
  const items: Value[] = new Array(list.size);
  for (let i = 0; i < list.size; i++) items[i] = list.at(i);
  return items;
}
