import type { StoreEvent } from "../storage/store.ts";

/** One write, and who did it. */
export interface JournalEntry extends StoreEvent {
  readonly timeMs: number;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly subresource: string;
}

const MAX_ENTRIES = 100_000;

/** The part of a journal that was there at a moment. */
export interface JournalPart {
  readonly journal: Journal;
  readonly length: number;
}

/** Every write of a control plane; a fork goes on where the journal of its origin stood. */
export class Journal {
  readonly #origin: JournalPart | undefined;
  readonly #entries: JournalEntry[] = [];
  #dropped = 0;

  constructor(origin?: JournalPart) {
    this.#origin = origin;
  }

  /** What is there now, for the journal of a fork. */
  save(): JournalPart {
    // Where nothing was added, a fork of a fork need not know of the one between.
    if (this.#origin && this.#entries.length === 0 && this.#dropped === 0) return this.#origin;
    return { journal: this, length: this.#dropped + this.#entries.length };
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= MAX_ENTRIES) return;
    this.#entries.splice(0, MAX_ENTRIES / 10);
    this.#dropped += MAX_ENTRIES / 10;
  }

  /** All that is kept about a key, the oldest first. */
  of(key: string): JournalEntry[] {
    return this.#until(this.#dropped + this.#entries.length).filter((entry) => entry.key === key);
  }

  #until(length: number): JournalEntry[] {
    const own = this.#entries.slice(0, Math.max(0, length - this.#dropped));
    return this.#origin ? [...this.#origin.journal.#until(this.#origin.length), ...own] : own;
  }
}
