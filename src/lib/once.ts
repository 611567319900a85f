/**
 * Something that happens once. Does for thousands of listeners what an AbortSignal does for a few: listening costs one
 * place in a set, and ends without a search.
 */
export class Once {
  #hasHappened = false;
  readonly #listeners = new Set<() => void>();

  get hasHappened(): boolean {
    return this.#hasHappened;
  }

  /** Calls the listener when it happens, or at once if it has. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    if (this.#hasHappened) {
      listener();
      return () => {};
    }
    // The same function may listen twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Lets it happen. Further calls do nothing. */
  happen(): void {
    if (this.#hasHappened) return;
    this.#hasHappened = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
