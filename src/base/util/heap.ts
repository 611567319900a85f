/**
 * A binary heap whose items can be removed or moved at any position. `isBefore` must be a strict order. All operations
 * take O(log n).
 */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item, or undefined if the heap is empty. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it if its order has changed. */
  set(item: T): void {
    const at = this.#positions.get(item);
    if (at === undefined) this.#rise(this.#items.length, item);
    else this.#settle(at, item);
  }

  /** Returns false if the item was not in the heap. */
  delete(item: T): boolean {
    const at = this.#positions.get(item);
    const last = this.#items.at(-1);
    if (at === undefined || last === undefined) return false;
    this.#items.pop();
    this.#positions.delete(item);
    if (last !== item) this.#settle(at, last);
    return true;
  }

  #settle(at: number, item: T): void {
    const parent = this.#items[(at - 1) >> 1];
    if (at > 0 && parent !== undefined && this.#isBefore(item, parent)) this.#rise(at, item);
    else this.#sink(at, item);
  }

  #rise(from: number, item: T): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#place(at, parent);
      at = above;
    }
    this.#place(at, item);
  }

  #sink(from: number, item: T): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const [one, other] = [this.#items[left], this.#items[left + 1]];
      if (one === undefined) break;
      const isOther = other !== undefined && this.#isBefore(other, one);
      const child = isOther ? other : one;
      if (!this.#isBefore(child, item)) break;
      this.#place(at, child);
      at = isOther ? left + 1 : left;
    }
    this.#place(at, item);
  }

  #place(at: number, item: T): void {
    this.#items[at] = item;
    this.#positions.set(item, at);
  }
}
