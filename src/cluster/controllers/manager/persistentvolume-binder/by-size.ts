import type { KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, type Quantity } from "../../../../base/api/quantity.ts";
import { keyOf } from "../../shared/informer.ts";

/** Objects of the same size. */
interface Size<T> {
  readonly size: Quantity;
  readonly objects: Map<string, T>;
}

/** Objects in ascending order of their size. */
export class BySize<T extends KubeObject> {
  readonly #sizeOf: (object: T) => Quantity;
  readonly #sizes: Size<T>[] = [];

  constructor(sizeOf: (object: T) => Quantity) {
    this.#sizeOf = sizeOf;
  }

  add(object: T): void {
    const size = this.#sizeOf(object);
    const at = this.#firstAtLeast(size);
    const known = this.#sizes[at];
    if (known && compareQuantities(known.size, size) === 0) known.objects.set(keyOf(object), object);
    else this.#sizes.splice(at, 0, { size, objects: new Map([[keyOf(object), object]]) });
  }

  /** The object must have the size with which it was added. */
  remove(object: T): void {
    const at = this.#firstAtLeast(this.#sizeOf(object));
    const known = this.#sizes[at];
    known?.objects.delete(keyOf(object));
    if (known?.objects.size === 0) this.#sizes.splice(at, 1);
  }

  /** The objects that have at least this size. */
  *atLeast(size: Quantity): Generator<T> {
    for (let at = this.#firstAtLeast(size); at < this.#sizes.length; at += 1) {
      yield* this.#sizes[at]?.objects.values() ?? [];
    }
  }

  /** The objects that have at most this size. */
  *atMost(size: Quantity): Generator<T> {
    for (const one of this.#sizes) {
      if (compareQuantities(one.size, size) > 0) return;
      yield* one.objects.values();
    }
  }

  #firstAtLeast(size: Quantity): number {
    let [low, high] = [0, this.#sizes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const known = this.#sizes[middle];
      if (known && compareQuantities(known.size, size) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
