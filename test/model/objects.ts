import assert from "node:assert/strict";
import type { Thing, Wire, WireEvent } from "./wire.ts";

const FOLDER = "/api/v1/namespaces/default/configmaps";

/** ConfigMaps by name, in one namespace, for deterministic tests. Every call must succeed. */
export class Objects {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Returns the resourceVersion of the new object. */
  async create(name: string, text = ""): Promise<number> {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text } };
    return versionOf(await this.#call("POST", FOLDER, body));
  }

  /** Replaces it unconditionally. */
  async replace(name: string, text: string): Promise<number> {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text } };
    return versionOf(await this.#call("PUT", `${FOLDER}/${name}`, body));
  }

  /** Resolves once it is deleted. */
  async remove(name: string): Promise<void> {
    await this.#call("DELETE", `${FOLDER}/${name}`);
  }

  /** Undefined if it does not exist. */
  async get(name: string): Promise<Thing | undefined> {
    const { status, body } = await this.#wire.call("GET", `${FOLDER}/${name}`);
    assert.ok(status === 200 || status === 404, JSON.stringify(body));
    return status === 200 ? (body as unknown as Thing) : undefined;
  }

  /** A list with the given query, which must return `status`. */
  async list(query = "", status = 200) {
    const answer = await this.#wire.call("GET", `${FOLDER}?${query}`);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    const { metadata, items = [] } = answer.body;
    const names = items.map((thing) => thing.metadata.name);
    return { revision: Number(metadata?.resourceVersion), next: metadata?.continue ?? "", names, items };
  }

  /** Reads a watch until `isEnough` returns true or it ends, at most for `withinMs`. */
  async watch(query: string, isEnough: (events: WireEvent[]) => boolean, withinMs = 10_000): Promise<WireEvent[]> {
    return (await this.openWatch(query, withinMs))(isEnough);
  }

  /** Opens a watch. Resolves to a function that reads it like `watch`. */
  async openWatch(query: string, withinMs = 10_000) {
    const connection = await this.#wire.watch(`${FOLDER}?watch=1&${query}`);
    return async (isEnough: (events: WireEvent[]) => boolean): Promise<WireEvent[]> => {
      const timer = setTimeout(() => connection.cut(), withinMs);
      const events: WireEvent[] = [];
      for await (const event of connection.events()) {
        events.push(event);
        if (isEnough(events)) break;
      }
      clearTimeout(timer);
      connection.cut();
      return events;
    };
  }

  async #call(method: string, path: string, body?: unknown): Promise<Thing> {
    const answer = await this.#wire.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as unknown as Thing;
  }
}

const versionOf = (thing: Thing) => Number(thing.metadata.resourceVersion);

/** An event as text: `DELETED a 17`, or `ERROR 410`. */
export function describeEvent(event: WireEvent): string {
  if (event.type === "ERROR") return `ERROR ${event.object.code}`;
  const { name, resourceVersion } = event.object.metadata;
  return event.type === "BOOKMARK" ? `BOOKMARK ${resourceVersion}` : `${event.type} ${name} ${resourceVersion}`;
}
