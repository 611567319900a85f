/**
 * A value that becomes known after the parts that use it were built. It makes the forward references of a composition
 * explicit: reading it too early throws instead of yielding undefined.
 */
export class Late<T> {
  readonly #name: string;
  #slot: { readonly value: T } | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** Throws if the value is not set yet. */
  get value(): T {
    if (this.#slot === undefined) throw new Error(`${this.#name} is used before it is set`);
    return this.#slot.value;
  }

  /** Throws if the value is set already. */
  set(value: T): void {
    if (this.#slot !== undefined) throw new Error(`${this.#name} is set twice`);
    this.#slot = { value };
  }
}
