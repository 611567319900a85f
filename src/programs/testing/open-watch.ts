import type { Call } from "../../base/api/call.ts";
import type { WatchEvent } from "../../base/api/reply.ts";

/** Returns the events that a watch sends instead of `event`. */
export type ChangeEvent = (event: WatchEvent) => readonly WatchEvent[] | Promise<readonly WatchEvent[]>;

/** A watch that can be ended at any time. */
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

  /** Breaks the connection after `events` more events. */
  cutAfter(events: number): void {
    this.#left = events;
    if (events === 0) this.cut();
  }

  /** Sends one last event and ends the watch. */
  end(last: WatchEvent): void {
    this.#last = last;
    this.#ended.resolve("ended");
  }

  /** The events to send to the client. `closed` is called at the end. */
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
      else throw new Error("connection broken by a test");
    } finally {
      closed();
      void source.return?.();
    }
  }
}
