import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../support/lines-of.ts";

/** An object as this program reads it. */
export interface Item {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly restartPolicy?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Item & { readonly code?: number };
}

/** A client of servers that are killed now and then: it repeats requests until one of them answers. */
export class Api {
  readonly #bases: readonly string[];
  readonly #signal: AbortSignal;

  constructor(bases: readonly string[], signal: AbortSignal) {
    this.#bases = bases;
    this.#signal = signal;
  }

  async list(path: string): Promise<{ readonly items: Item[]; readonly metadata: Item["metadata"] }> {
    const { body } = await this.#send("GET", path);
    return body as { items: Item[]; metadata: Item["metadata"] };
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#send("GET", path)).body as T;
  }

  /** Creates or changes an object. */
  async apply(path: string, object: object): Promise<void> {
    await this.#send("PATCH", `${path}?fieldManager=restarts&force=true`, object, "application/apply-patch+yaml");
  }

  /** Deletes an object at once. It may be gone. */
  async remove(path: string): Promise<void> {
    await this.#send("DELETE", `${path}?gracePeriodSeconds=0`, undefined, undefined, 404);
  }

  /** Changes the status of an object that may be gone. */
  async patchStatus(path: string, status: object): Promise<void> {
    await this.#send("PATCH", `${path}/status`, { status }, "application/merge-patch+json", 404);
  }

  /** The events after a resourceVersion, until the connection breaks. */
  async *watch(path: string, resourceVersion: string): AsyncGenerator<WatchEvent> {
    const body = await this.#openWatch(`${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`);
    if (body === undefined) return;
    try {
      for await (const line of linesOf(Readable.fromWeb(body))) yield JSON.parse(line) as WatchEvent;
    } catch {
      // The server was killed, or the run has ended.
    }
  }

  /** The stream of the first server that answers. */
  async #openWatch(path: string): Promise<ReadableStream | undefined> {
    for (const base of this.#bases) {
      const response = await fetch(`${base}${path}`, { signal: this.#signal }).catch(() => undefined);
      if (response?.ok && response.body !== null) return response.body as ReadableStream;
    }
    return undefined;
  }

  async #send(method: string, path: string, object?: object, type?: string, allowed = 0) {
    for (let attempt = 0; ; attempt += 1) {
      const base = this.#bases[attempt % this.#bases.length];
      try {
        const body = object && JSON.stringify(object);
        const headers = type === undefined ? {} : { "content-type": type };
        const response = await fetch(`${base}${path}`, {
          method,
          headers,
          ...(body && { body }),
          signal: this.#signal,
        });
        const text = await response.text();
        if (response.ok || response.status === allowed) return { body: JSON.parse(text) as unknown };
        // A server that starts or stops may answer so.
        if (![401, 403, 409, 429, 500, 503, 504].includes(response.status))
          throw new Rejected(`${method} ${path}: ${text}`);
      } catch (error) {
        if (error instanceof Rejected || this.#signal.aborted) throw error;
      }
      await sleep(20);
    }
  }
}

class Rejected extends Error {}
