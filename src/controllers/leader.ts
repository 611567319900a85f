import type { Clock } from "../lib/clock.ts";
import type { KeySpace } from "../resources/model/keys.ts";
import type { Entry, Store } from "../storage/store.ts";

/** Leader election among replicas of this server. */
export interface LeaderOptions {
  readonly store: Store;
  /** Where the choice is written down; see `leaderKey`. */
  readonly key: string;
  /** Names this replica, and no other. */
  readonly identity: string;
  readonly clock: Clock;
  /** A leader that has not been heard of for so long is replaced. Default: 15 seconds. */
  readonly ttlMs?: number;
}

/** The key for the leader of some work: below the root, but at a place where no kind can be. */
export function leaderKey(keys: KeySpace, work: string): string {
  // Groups of custom kinds have a dot in their name and no built-in kind is called so.
  return `${keys.root}binnacle/leaders/${work}`;
}

const DEFAULT_TTL_MS = 15_000;
/** How many times within the time to live a leader makes itself heard. */
const RENEWALS = 5;
/** The part of the time to live after which a leader that could not make itself heard steps down. */
const STEP_DOWN = 2 / 3;

/**
 * Does the work whenever this replica is the leader, until the signal aborts; work that ends by itself is begun again.
 * Its own signal aborts when another one may take over. Replicas compare no clocks: each measures by its own how long
 * the record has stayed the same. Two may still overlap when a process was stopped, so work must be safe to do twice.
 */
export async function runAsLeader(
  options: LeaderOptions,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const candidate = new Candidate(options);
  while (!signal.aborted) {
    const revision = await candidate.win(signal);
    if (revision !== undefined) await candidate.lead(revision, signal, work);
  }
}

class Candidate {
  readonly #store: Store;
  readonly #key: string;
  readonly #identity: string;
  readonly #clock: Clock;
  readonly #ttlMs: number;
  #renewals = 0;
  /** The record as it was seen last, and since when it has not changed. */
  #seen: { readonly revision: number; readonly sinceMs: number } | undefined;

  constructor({ store, key, identity, clock, ttlMs = DEFAULT_TTL_MS }: LeaderOptions) {
    this.#store = store;
    this.#key = key;
    this.#identity = identity;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** The revision of the record that makes this replica the leader, or undefined when that has to be tried again. */
  async win(signal: AbortSignal): Promise<number | undefined> {
    try {
      const entry = await this.#store.get(this.#key);
      const waitMs = this.#mayTake(entry);
      if (waitMs > 0 && entry) {
        await this.#waitForChange(entry.modRevision, waitMs, signal);
        return undefined;
      }
      if (signal.aborted) return undefined;
      const outcome = await this.#write(entry?.modRevision ?? 0, this.#ttlMs);
      if (outcome === "failed") await this.#clock.sleep(this.#ttlMs / RENEWALS, signal);
      return typeof outcome === "number" ? outcome : undefined;
    } catch {
      // A store that does not answer elects nobody.
      await this.#clock.sleep(this.#ttlMs / RENEWALS, signal);
      return undefined;
    }
  }

  /** Works under a record of this revision until the signal aborts or the record cannot be kept. */
  async lead(revision: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const term = new AbortController();
    const leading = AbortSignal.any([signal, term.signal]);
    const renewed = this.#keep(revision, leading, () => term.abort());
    try {
      await work(leading);
    } finally {
      term.abort();
      await this.#resign(await renewed);
    }
  }

  /** How long to wait before the record may be taken; 0 when it may be taken now. */
  #mayTake(entry: Entry | undefined): number {
    if (!entry || holderOf(entry) === this.#identity) return 0;
    const nowMs = this.#clock.monotonic();
    if (this.#seen?.revision !== entry.modRevision) this.#seen = { revision: entry.modRevision, sinceMs: nowMs };
    return Math.max(0, this.#seen.sinceMs + this.#ttlMs - nowMs);
  }

  async #waitForChange(revision: number, waitMs: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const timer = this.#clock.setTimer(waitMs, () => stop.abort());
    try {
      for await (const { events } of this.#store.watch(this.#key, revision, either)) {
        if (events.some(({ key }) => key === this.#key)) return;
      }
    } finally {
      timer.close();
      stop.abort();
    }
  }

  /** Makes itself heard until the signal aborts or that fails for too long. Resolves with the last known revision. */
  async #keep(first: number, signal: AbortSignal, stepDown: () => void): Promise<number> {
    let revision = first;
    let heardMs = this.#clock.monotonic();
    for (;;) {
      await this.#clock.sleep(this.#ttlMs / RENEWALS, signal);
      if (signal.aborted) return revision;
      const beganMs = this.#clock.monotonic();
      const outcome = await this.#write(revision, heardMs + this.#ttlMs * STEP_DOWN - beganMs);
      if (outcome === "lost") break;
      if (outcome !== "failed") {
        revision = outcome;
        heardMs = beganMs;
      } else if (this.#clock.monotonic() - heardMs >= this.#ttlMs * STEP_DOWN) break;
    }
    stepDown();
    return revision;
  }

  /** The new revision; "lost" when another one has written; "failed" when the store did not answer in time. */
  async #write(expected: number, withinMs: number): Promise<number | "lost" | "failed"> {
    const answered = new AbortController();
    const late = this.#clock.sleep(Math.max(0, withinMs), answered.signal).then(() => "failed" as const);
    try {
      return await Promise.race([this.#put(expected), late]);
    } finally {
      answered.abort();
    }
  }

  async #put(expected: number): Promise<number | "lost" | "failed"> {
    try {
      const result = await this.#store.put(this.#key, this.#record(), expected);
      if (result.ok) return result.revision;
      // A write whose answer was lost has happened nevertheless.
      const { current } = result;
      return current && holderOf(current) === this.#identity ? current.modRevision : "lost";
    } catch {
      return "failed";
    }
  }

  /** Lets another one take over at once. */
  async #resign(revision: number): Promise<void> {
    await this.#store.delete(this.#key, revision).catch(() => undefined);
  }

  #record(): Uint8Array {
    this.#renewals += 1;
    return Buffer.from(JSON.stringify({ holder: this.#identity, ttlMs: this.#ttlMs, renewals: this.#renewals }));
  }
}

function holderOf(entry: Entry): string | undefined {
  try {
    const record = JSON.parse(Buffer.from(entry.value).toString()) as { holder?: unknown };
    return typeof record.holder === "string" ? record.holder : undefined;
  } catch {
    return undefined;
  }
}
