/**
 * A one-time event for thousands of listeners. Unlike with an AbortSignal, a listener costs one entry of a set, and is
 * removed without a search.
 */
export class Once {
  #hasHappened = false;
  readonly #listeners = new Set<() => void>();

  get hasHappened(): boolean {
    return this.#hasHappened;
  }

  /**
   * Calls the listener when the event happens, or immediately if it has. Returns a function that removes the listener.
   */
  listen(listener: () => void): () => void {
    if (this.#hasHappened) {
      listener();
      return () => {};
    }
    // The same function may be added twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Triggers the event. Further calls have no effect. */
  happen(): void {
    if (this.#hasHappened) return;
    this.#hasHappened = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
