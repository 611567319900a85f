/** Which simulated nodes are cut off from the server, as by a broken network: they neither report nor learn anything. */
export class NodeConnections {
  readonly #lost: Set<string>;
  #reconnected: (name: string) => void = () => {};

  /** `lost`: the names of the nodes that are cut off at first. */
  constructor(lost: Iterable<string> = []) {
    this.#lost = new Set(lost);
  }

  /** The names of the nodes that are cut off. */
  get lost(): readonly string[] {
    return [...this.#lost];
  }

  isConnected(name: string): boolean {
    return !this.#lost.has(name);
  }

  disconnect(name: string): void {
    this.#lost.add(name);
  }

  reconnect(name: string): void {
    if (this.#lost.delete(name)) this.#reconnected(name);
  }

  /** Calls the function with the name of each node that is connected again. It replaces an earlier one. */
  observe(reconnected: (name: string) => void): void {
    this.#reconnected = reconnected;
  }
}
