/**
 * State of a possible second round of mutating admission. A plugin that has changed the object requests it; there are
 * never more than two rounds. Upstream: `ReinvocationContext`.
 */
export class Reinvocation {
  readonly #notes = new Map<string, unknown>();
  #isRequested = false;
  #isReinvoke = false;

  /** Whether this is the second round. */
  get isReinvoke(): boolean {
    return this.#isReinvoke;
  }

  /** Requests a second round. */
  request(): void {
    this.#isRequested = true;
  }

  /** Starts the second round if it was requested and has not started yet. Returns whether it starts. */
  begin(): boolean {
    if (!this.#isRequested || this.#isReinvoke) return false;
    this.#isReinvoke = true;
    return true;
  }

  /** The state of a plugin for this write, created by `make`. Upstream: `Value` and `SetValue`. */
  note<T>(plugin: string, make: () => T): T {
    if (!this.#notes.has(plugin)) this.#notes.set(plugin, make());
    return this.#notes.get(plugin) as T;
  }
}
