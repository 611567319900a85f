import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { Client } from "../../support/client.ts";
import { eventually } from "../../support/time.ts";

/** Follows all Pods of a server. */
export class PodWatch {
  readonly #stopping = new AbortController();
  readonly #pods = new Map<string, Pod>();

  constructor(client: Client) {
    void this.#follow(client);
  }

  stop(): void {
    this.#stopping.abort();
  }

  get(name: string): Pod | undefined {
    return this.#pods.get(name);
  }

  all(): Pod[] {
    return [...this.#pods.values()];
  }

  /** Resolves to the first result that is not undefined. */
  until<T>(what: string, probe: () => T | undefined, withinMs = 60_000): Promise<T> {
    return eventually(probe, { what, everyMs: 2, withinMs });
  }

  async #follow(client: Client): Promise<void> {
    const { signal } = this.#stopping;
    const path = "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=86400";
    for await (const { type, object } of client.watch(path, signal)) {
      if (type === "DELETED") this.#pods.delete(object.metadata.name);
      else this.#pods.set(object.metadata.name, object);
    }
  }
}
