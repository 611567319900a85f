import { type Clock, systemClock, type Timer } from "../lib/clock.ts";

/** What a compactor works on. */
export interface CompactedStore {
  /** Writes `value` if the key has been written `version` times since it was created, and says what is there if not. */
  putAtVersion(key: string, value: Uint8Array, version: number): Promise<Turn>;
  compact(revision: number): Promise<void>;
}

/** What became of an attempt to take a turn. `version` and `value` are those in place, known only after a refusal. */
export interface Turn {
  readonly succeeded: boolean;
  /** The store's revision after the attempt. */
  readonly revision: number;
  readonly version: number;
  readonly value: Uint8Array;
}

/** How often, and who is told when a round fails. */
export interface CompactorOptions {
  readonly intervalMs: number;
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

/**
 * Compat: `compact_rev_key`, outside of any prefix, through which all API servers of one etcd take turns to compact.
 */
const TURN_KEY = "compact_rev_key";

/**
 * Forgets, once per interval, the history that was there an interval ago. Any number of servers may do so on one store,
 * the real ones included: each round writes a key on the condition that nobody has since this server last looked, and
 * only who succeeds compacts. By example, with two servers A and B and an interval of 5 minutes:
 *   00:00 A   writes version 1, knows no older revision, compacts nothing, and remembers revision 100
 *   00:02 B   is refused by version 1, which it adopts, and remembers revision 140
 *   00:05 A   writes version 2 and compacts to 100
 *   00:07 B   is refused again, adopts version 2
 *   00:10     A is gone
 *   00:12 B   writes version 3 and compacts to what it remembered at 00:07
 * So history is kept for one interval at least, and for two when a server has just taken over.
 */
export class Compactor {
  readonly #store: CompactedStore;
  readonly #onError: (error: unknown) => void;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #isClosed = false;
  /** How often the key has been written, as far as known here. */
  #version = 0;
  /** The store's revision in the last round; 0: there was none. */
  #revision = 0;

  /** The first round comes after one interval. The timer does not keep the process alive. */
  constructor(store: CompactedStore, options: CompactorOptions) {
    this.#store = store;
    this.#intervalMs = options.intervalMs;
    this.#clock = options.clock ?? systemClock;
    this.#onError = options.onError ?? (() => undefined);
    this.#schedule();
  }

  /** Takes part in one round. Resolves to the revision compacted to by whoever had the last turn; 0 if not known. */
  async round(): Promise<number> {
    const wanted = this.#revision;
    const turn = await this.#store.putAtVersion(TURN_KEY, Buffer.from(String(wanted)), this.#version);
    this.#revision = turn.revision;
    this.#version = turn.succeeded ? this.#version + 1 : turn.version;
    if (!turn.succeeded) return parseRevision(turn.value);
    if (wanted > 0) await this.#store.compact(wanted);
    return wanted;
  }

  /** No round starts after this. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.close();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const round = () => {
      this.round()
        .catch((error: unknown) => {
          if (!this.#isClosed) this.#onError(error);
        })
        .finally(() => this.#schedule());
    };
    this.#timer = this.#clock.setTimer(this.#intervalMs, round).unref();
  }
}

/** Somebody else's value, so that it may be anything. */
function parseRevision(value: Uint8Array): number {
  const text = Buffer.from(value).toString();
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
