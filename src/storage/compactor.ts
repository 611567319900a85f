import { type Clock, systemClock, type Timer } from "../base/util/clock.ts";

/** The store that a compactor compacts. */
export interface CompactedStore {
  /**
   * Writes `value` if the key has been written `version` times since it was created; returns the current value if not.
   */
  putAtVersion(key: string, value: Uint8Array, version: number): Promise<Turn>;
  compact(revision: number): Promise<void>;
}

/** Result of an attempt to take a turn. `version` and `value` are the stored ones; only set after a failed attempt. */
export interface Turn {
  readonly succeeded: boolean;
  /** The store's revision after the attempt. */
  readonly revision: number;
  readonly version: number;
  readonly value: Uint8Array;
}

/** Interval of a compactor, and a callback for failed rounds. */
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
 * Compacts once per interval to the revision of one interval ago. Any number of servers may do so on one store,
 * kube-apiservers included: each round writes a key on the condition that no other server has written it since, and
 * only the server that succeeds compacts. Example, with two servers A and B and an interval of 5 minutes:
 *   00:00 A   writes version 1, knows no older revision, compacts nothing, and remembers revision 100
 *   00:02 B   fails because of version 1, adopts it, and remembers revision 140
 *   00:05 A   writes version 2 and compacts to 100
 *   00:07 B   fails again, adopts version 2
 *   00:10     A is gone
 *   00:12 B   writes version 3 and compacts to the revision it remembered at 00:07
 * So history is kept for at least one interval, and for two when another server has just taken over.
 */
export class Compactor {
  readonly #store: CompactedStore;
  readonly #onError: (error: unknown) => void;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #isClosed = false;
  /** The last known version of the key: how often it has been written. */
  #version = 0;
  /** The store's revision in the last round; 0 before the first. */
  #revision = 0;

  /** The first round starts after one interval. The timer does not keep the process alive. */
  constructor(store: CompactedStore, options: CompactorOptions) {
    this.#store = store;
    this.#intervalMs = options.intervalMs;
    this.#clock = options.clock ?? systemClock;
    this.#onError = options.onError ?? (() => undefined);
    this.#schedule();
  }

  /** Takes part in one round. Resolves to the revision of the last compaction by any server; 0 if not known. */
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

/** Other programs may have written the value, so anything but a revision counts as 0. */
function parseRevision(value: Uint8Array): number {
  const text = Buffer.from(value).toString();
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
