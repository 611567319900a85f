import type { Call } from "../api/call.ts";
import type { WatchEvent } from "../api/reply.ts";

/** What a watch shows instead of an event. */
export type ChangeEvent = (event: WatchEvent) => readonly WatchEvent[] | Promise<readonly WatchEvent[]>;

/** A watch on its way to a client, which can be ended at any time. */
export class OpenWatch {
  readonly call: Call;
  readonly #events: AsyncIterable<readonly WatchEvent[]>;
  readonly #change: ChangeEvent;
  readonly #ended = Promise.withResolvers<"ended">();
  #last: WatchEvent | undefined;
  #isCut = false;
  #left = Number.POSITIVE_INFINITY;

  constructor(call: Call, events: AsyncIterable<readonly WatchEvent[]>, change: ChangeEvent) {
    this.call = call;
    this.#events = events;
    this.#change = change;
  }

  /** Breaks the connection. */
  cut(): void {
    this.#isCut = true;
    this.#ended.resolve("ended");
  }

  /** Breaks the connection after so many more events. */
  cutAfter(events: number): void {
    this.#left = events;
    if (events === 0) this.cut();
  }

  /** Shows one last event. */
  end(last: WatchEvent): void {
    this.#last = last;
    this.#ended.resolve("ended");
  }

  /** What the client is shown. `closed` is called when it is shown no more. */
  async *events(closed: () => void): AsyncGenerator<readonly WatchEvent[]> {
    const source = this.#events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await Promise.race([source.next(), this.#ended.promise]);
        if (next === "ended") break;
        if (next.done) return;
        for (const event of next.value) {
          const shown = await this.#change(event);
          const some = shown.slice(0, this.#left);
          if (some.length > 0) yield some;
          this.#left -= some.length;
          if (this.#left <= 0) this.cut();
          if (this.#isCut) break;
        }
      }
      if (this.#last) yield [this.#last];
      else throw new Error("a test asked to break this connection");
    } finally {
      closed();
      void source.return?.();
    }
  }
}
