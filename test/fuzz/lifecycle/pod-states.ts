import { isObject, type Json, type JsonObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { Client } from "../../support/client.ts";

/** The states of each Pod, as a watch shows them, without what differs from cluster to cluster. */
export class PodStates {
  readonly #stopping = new AbortController();
  readonly #byName = new Map<string, JsonObject[]>();
  readonly #listeners = new Map<string, (count: number) => void>();
  #lastMs = performance.now();

  constructor(client: Client) {
    void this.#follow(client);
  }

  stop(): void {
    this.#stopping.abort();
  }

  of(name: string): readonly JsonObject[] {
    return this.#byName.get(name) ?? [];
  }

  /** Calls back for each state of a Pod, with the number of its states so far. */
  onState(name: string, listener: (count: number) => void): void {
    this.#listeners.set(name, listener);
  }

  /** Milliseconds since anything has changed. */
  get quietMs(): number {
    return performance.now() - this.#lastMs;
  }

  async #follow(client: Client): Promise<void> {
    const { signal } = this.#stopping;
    const path = "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=86400";
    for await (const { type, object } of client.watch(path, signal)) {
      const { name } = object.metadata;
      const states = [...this.of(name), { type, ...comparable(object) }];
      this.#byName.set(name, states);
      this.#lastMs = performance.now();
      this.#listeners.get(name)?.(states.length);
    }
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** What a Stage may change, without identities, times and addresses. */
function comparable({ metadata, status = {} }: Pod): JsonObject {
  const { labels, annotations, finalizers, generation, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const own = { labels, annotations, finalizers, generation, deletionTimestamp, deletionGracePeriodSeconds };
  const nodeAddress = (status as { hostIP?: string }).hostIP;
  const mask = (value: Json | undefined, key: string): Json => {
    if (Array.isArray(value)) return value.map((item) => mask(item, key));
    if (isObject(value)) {
      // Servers may list members in another order.
      const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
      return Object.fromEntries(members.map(([name, item]) => [name, mask(item, name)]));
    }
    if (typeof value !== "string") return value ?? null;
    if (TIME.test(value)) return "TIME";
    return /IP$|^ip$/.test(key) ? (value === nodeAddress ? "NODE" : "POD") : value;
  };
  const present = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { metadata: mask(present as JsonObject, ""), status: mask(status as JsonObject, "") };
}
