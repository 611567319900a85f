/**
 * Whether mutating admission has a second round, and what plugins remember for it. Upstream: `ReinvocationContext`. A
 * plugin that has changed the object asks for it; there are never more than two.
 */
export class Reinvocation {
  readonly #notes = new Map<string, unknown>();
  #isRequested = false;
  #isReinvoke = false;

  /** Whether this is the second round. */
  get isReinvoke(): boolean {
    return this.#isReinvoke;
  }

  /** Asks for a second round. */
  request(): void {
    this.#isRequested = true;
  }

  /** Begins the second round if somebody has asked for it and it has not begun yet. */
  begin(): boolean {
    if (!this.#isRequested || this.#isReinvoke) return false;
    this.#isReinvoke = true;
    return true;
  }

  /** What a plugin remembers of this write; `make` makes it. Upstream: `Value` and `SetValue`. */
  note<T>(plugin: string, make: () => T): T {
    if (!this.#notes.has(plugin)) this.#notes.set(plugin, make());
    return this.#notes.get(plugin) as T;
  }
}
