import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../support/lines-of.ts";
import { healingCall, type Record } from "./healing.ts";
import type { Line } from "./lines.ts";
import { LIST, writtenTimes } from "./writers.ts";

const PAUSE_MS = 50;

/** Keeps a copy of all objects by one list and then watches, as client-go's reflector does. */
export class Watcher {
  readonly #line: Line;
  readonly #record: Record;
  readonly #states = new Map<string, number>();
  #version = "";
  #stream: Readable | undefined;
  events = 0;
  /** How often a watch was taken up again where the last one had ended, and how often all had to be listed anew. */
  resumed = 0;
  relisted = 0;

  constructor(line: Line, record: Record) {
    this.#line = line;
    this.#record = record;
  }

  /** The values of all objects that it knows. */
  get states(): ReadonlyMap<string, number> {
    return this.#states;
  }

  /** Follows until the signal aborts. Rejects when it is told something that does not follow. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#stream?.destroy(), { once: true });
    while (!signal.aborted) {
      if (this.#version === "") await this.#list();
      const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${this.#version}`;
      const opened = await this.#line.open(`${LIST}&${query}`).catch(() => undefined);
      if (opened?.status === 200) await this.#follow(opened.stream, signal);
      else opened?.stream.resume();
      if (opened?.status === 410) this.#version = "";
      if (signal.aborted) return;
      this.resumed++;
      await sleep(PAUSE_MS);
    }
  }

  async #list(): Promise<void> {
    const { status, body } = await healingCall(this.#line, this.#record, ["GET", LIST]);
    if (status !== 200) throw new Error(`list: ${status} ${JSON.stringify(body)}`);
    this.#states.clear();
    for (const object of body.items) this.#states.set(object.metadata.name, writtenTimes(object));
    this.#version = body.metadata.resourceVersion;
    this.relisted++;
  }

  async #follow(stream: Readable, signal: AbortSignal): Promise<void> {
    this.#stream = stream;
    for await (const line of untilLost(stream)) {
      const event: WatchEvent = JSON.parse(line);
      if (signal.aborted) return;
      if (event.type === "ERROR") {
        if (event.object.code === 410) this.#version = "";
        return;
      }
      this.#take(event);
    }
  }

  #take({ type, object }: WatchEvent): void {
    const { name, resourceVersion } = object.metadata;
    const isOrdered = Number(resourceVersion) > Number(this.#version);
    if (!isOrdered && type !== "BOOKMARK")
      throw new Error(`${type} ${name}: ${resourceVersion} after ${this.#version}`);
    this.#version = resourceVersion;
    if (type === "BOOKMARK") return;
    this.events++;
    const before = this.#states.get(name);
    const value = writtenTimes(object);
    const follows =
      type === "ADDED"
        ? before === undefined && value === 0
        : type === "MODIFIED"
          ? before === value - 1
          : before === value;
    if (!follows) throw new Error(`${type} ${name}: ${value} after ${before}`);
    if (type === "DELETED") this.#states.delete(name);
    else this.#states.set(name, value);
  }
}

interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly data?: { readonly value?: string };
  };
}

/** The lines until the connection is lost: the watch is taken up again then. */
async function* untilLost(stream: Readable): AsyncGenerator<string> {
  try {
    yield* linesOf(stream);
  } catch {}
}
