import type { RequestInfo } from "../../base/api/request-info.ts";

/** Counts open watches by what they select, to estimate how many get the event of a write. Compat: `watchTracker`. */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** `name`: the only object that is watched, or empty. Returns the function that ends the watch. */
  add({ group, resource, namespace }: RequestInfo, name: string): () => void {
    const key = keyOf(group, resource, namespace, name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  /** How many watches may get the event of a write. */
  interested({ group, resource, namespace }: RequestInfo, name: string): number {
    if (this.#counts.size === 0) return 0;
    const count = (in_: string, named: string) => this.#counts.get(keyOf(group, resource, in_, named)) ?? 0;
    return count("", "") + (namespace === "" ? 0 : count(namespace, "")) + (name === "" ? 0 : count(namespace, name));
  }
}

function keyOf(group: string, resource: string, namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}
