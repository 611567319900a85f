import type { StoreEvent } from "./store.ts";

const NO_EVENTS: readonly StoreEvent[] = [];

/** Events in order of their revisions. The oldest can be dropped. Positions are found by revision. */
export class EventLog {
  readonly #events: StoreEvent[] = [];

  /** How many events are kept. */
  get length(): number {
    return this.#events.length;
  }

  /** Revision of the newest event; 0 if the log is empty. */
  get lastRevision(): number {
    return this.#events.at(-1)?.revision ?? 0;
  }

  /** The event's revision must not be lower than that of the last one. */
  append(event: StoreEvent): void {
    this.#events.push(event);
  }

  /** Undefined if the index is outside of the log. */
  at(index: number): StoreEvent | undefined {
    return this.#events[index];
  }

  /** Index of the first event newer than `revision`; `length` if there is none. */
  indexAfter(revision: number): number {
    // Most readers are at the end or one step behind it.
    let high = this.#events.length;
    if (this.lastRevision <= revision) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as StoreEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Events newer than `revision`, at most `limit`. May return more to keep events of one revision together. */
  readAfter(revision: number, limit: number): readonly StoreEvent[] {
    const start = this.indexAfter(revision);
    let end = Math.min(start + limit, this.#events.length);
    while (
      end > start &&
      end < this.#events.length &&
      this.#events[end]?.revision === this.#events[end - 1]?.revision
    ) {
      end++;
    }
    return this.#events.slice(start, end);
  }

  /** Drops and returns all events older than `revision`. */
  dropBefore(revision: number): readonly StoreEvent[] {
    if ((this.#events[0]?.revision ?? revision) >= revision) return NO_EVENTS;
    return this.#events.splice(0, this.indexAfter(revision - 1));
  }
}
