import type { StoreEvent } from "../../storage/store.ts";

/** One write, with the request that caused it. */
export interface JournalEntry extends StoreEvent {
  readonly timeMs: number;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly subresource: string;
}

const MAX_ENTRIES = 100_000;

/** The entries of a journal at one moment. */
export interface JournalPart {
  readonly journal: Journal;
  readonly length: number;
}

/** Every write of a control plane. The journal of a fork continues that of its origin. */
export class Journal {
  readonly #origin: JournalPart | undefined;
  readonly #entries: JournalEntry[] = [];
  #dropped = 0;

  constructor(origin?: JournalPart) {
    this.#origin = origin;
  }

  /** The current entries, for the journal of a fork. */
  save(): JournalPart {
    // If nothing was added, a fork of a fork can refer to the first origin.
    if (this.#origin && this.#entries.length === 0 && this.#dropped === 0) return this.#origin;
    return { journal: this, length: this.#dropped + this.#entries.length };
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= MAX_ENTRIES) return;
    this.#entries.splice(0, MAX_ENTRIES / 10);
    this.#dropped += MAX_ENTRIES / 10;
  }

  /** All kept entries of a key, oldest first. */
  of(key: string): JournalEntry[] {
    return this.#until(this.#dropped + this.#entries.length).filter((entry) => entry.key === key);
  }

  #until(length: number): JournalEntry[] {
    const own = this.#entries.slice(0, Math.max(0, length - this.#dropped));
    return this.#origin ? [...this.#origin.journal.#until(this.#origin.length), ...own] : own;
  }
}
