import type { Clock } from "../../../base/util/clock.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import type { KeySpace } from "../../../resources/model/keys.ts";
import type { Entry, Store, WriteResult } from "../../../storage/store.ts";

/** The record that says which candidate leads. */
export interface LeaderRecord {
  /** Where it is stored. */
  readonly key: string;
  readonly store: Store;
  /** How often the leader renews it, and how soon a failed attempt is repeated. */
  readonly renewMs: number;
  /** If this candidate leads and does not renew the record for so long, it is replaced. */
  readonly ttlMs: number;
  /** The candidate for which the record is written. */
  readonly identity: string;
  /** The leader, undefined if there is none, and how long it leads after each renewal. */
  read(entry: Entry): { readonly holder: string | undefined; readonly ttlMs: number };
  /** Makes this candidate the leader, if the record has the expected revision. 0: if it does not exist. */
  take(expected: number): Promise<WriteResult>;
  /** Ends the leadership, so that another candidate can take over at once. */
  release(revision: number): Promise<void>;
  /** Called when this candidate begins to wait for another holder. Optional. */
  readonly waits?: (holder: string) => void;
}

/** Options of leader election among replicas of this server. */
export interface StoreRecordOptions {
  readonly store: Store;
  /** Key of the leader record; see `leaderKey`. */
  readonly key: string;
  /** Unique name of this replica. */
  readonly identity: string;
  /** Default: 15 s. */
  readonly ttlMs?: number;
}

/** The key of the leader record for some work: below the root, but outside the keys of all kinds. */
export function leaderKey(keys: KeySpace, work: string): string {
  // Groups of custom kinds contain a dot, and no built-in kind has this name.
  return `${keys.root}binnacle/leaders/${work}`;
}

/** A record that clients of the API do not see. */
export function storeRecord({ store, key, identity, ttlMs = DEFAULT_TTL_MS }: StoreRecordOptions): LeaderRecord {
  let renewals = 0;
  return {
    ...{ key, store, identity, ttlMs, renewMs: ttlMs / RENEWALS },
    read: (entry) => ({ holder: holderOf(entry), ttlMs }),
    take(expected) {
      renewals += 1;
      return store.put(key, Buffer.from(JSON.stringify({ holder: identity, ttlMs, renewals })), expected);
    },
    async release(revision) {
      await store.delete(key, revision);
    },
  };
}

const DEFAULT_TTL_MS = 15_000;
/** Number of renewals per time to live. */
const RENEWALS = 5;
/** Fraction of the time to live after which a leader that could not renew its record steps down. */
const STEP_DOWN = 2 / 3;

/**
 * Runs `work` whenever this replica is the leader, until the signal aborts; if the work ends, it is started again. The
 * signal of the work aborts before another replica may take over. Clocks of replicas are not compared: each measures by
 * its own clock how long the record has been unchanged. Two leaders may still overlap if a process was suspended, so
 * the work must be safe to run twice.
 */
export async function runAsLeader(
  record: LeaderRecord,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const candidate = new Candidate(record, clock);
  while (!signal.aborted) {
    const revision = await candidate.win(signal);
    if (revision !== undefined) await candidate.lead(revision, signal, work);
  }
}

class Candidate {
  readonly #record: LeaderRecord;
  readonly #clock: Clock;
  /** The last seen record, and since when it has not changed. */
  #seen: { readonly revision: number; readonly sinceMs: number } | undefined;
  /** The holder that `waits` was called with last. */
  #awaited: string | undefined;

  constructor(record: LeaderRecord, clock: Clock) {
    this.#record = record;
    this.#clock = clock;
  }

  /**
   * Tries to become the leader. Returns the revision of the leader record, or undefined if it has to be tried again.
   */
  async win(signal: AbortSignal): Promise<number | undefined> {
    try {
      const entry = await this.#record.store.get(this.#record.key);
      const waitMs = this.#mayTake(entry);
      if (waitMs > 0 && entry) {
        this.#noteWait(entry);
        await this.#waitForChange(entry.modRevision, waitMs, signal);
        return undefined;
      }
      if (signal.aborted) return undefined;
      const outcome = await this.#write(entry?.modRevision ?? 0, this.#record.ttlMs);
      if (outcome === "failed") await this.#clock.sleep(this.#record.renewMs, signal);
      return typeof outcome === "number" ? outcome : undefined;
    } catch {
      // Without a response of the store there is no leader.
      await this.#clock.sleep(this.#record.renewMs, signal);
      return undefined;
    }
  }

  /** Runs `work` as the leader until the signal aborts or the record cannot be renewed. */
  async lead(revision: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#awaited = undefined;
    const term = new AbortController();
    const leading = AbortSignal.any([signal, term.signal]);
    const renewed = this.#keep(revision, leading, () => term.abort());
    try {
      if (!leading.aborted) await work(leading);
    } finally {
      term.abort();
      await this.#resign(await renewed);
    }
  }

  /** How long to wait before the record may be taken over. 0: now. */
  #mayTake(entry: Entry | undefined): number {
    if (entry === undefined) return 0;
    const { holder, ttlMs } = this.#record.read(entry);
    if (holder === undefined || holder === this.#record.identity) return 0;
    const nowMs = this.#clock.monotonic();
    if (this.#seen?.revision !== entry.modRevision) this.#seen = { revision: entry.modRevision, sinceMs: nowMs };
    return Math.max(0, this.#seen.sinceMs + ttlMs - nowMs);
  }

  #noteWait(entry: Entry): void {
    const { holder = "" } = this.#record.read(entry);
    if (holder === this.#awaited) return;
    this.#awaited = holder;
    this.#record.waits?.(holder);
  }

  async #waitForChange(revision: number, waitMs: number, signal: AbortSignal): Promise<void> {
    const { store, key } = this.#record;
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const timer = this.#clock.setTimer(waitMs, () => stop.abort());
    try {
      for await (const { events } of store.watch(key, revision, either)) {
        if (events.some((event) => event.key === key)) return;
      }
    } finally {
      timer.close();
      stop.abort();
    }
  }

  /** Renews the record until the signal aborts or renewals fail for too long. Resolves with the last known revision. */
  async #keep(first: number, signal: AbortSignal, stepDown: () => void): Promise<number> {
    let revision = first;
    let heardMs = this.#clock.monotonic();
    for (;;) {
      await this.#clock.sleep(this.#record.renewMs, signal);
      if (signal.aborted) return revision;
      const beganMs = this.#clock.monotonic();
      const outcome = await this.#write(revision, heardMs + this.#record.ttlMs * STEP_DOWN - beganMs);
      if (outcome === "lost") break;
      if (outcome !== "failed") {
        revision = outcome;
        heardMs = beganMs;
      } else if (this.#clock.monotonic() - heardMs >= this.#record.ttlMs * STEP_DOWN) break;
    }
    stepDown();
    return revision;
  }

  /**
   * Returns the new revision, "lost" if another replica has written, or "failed" if the store did not respond in time.
   */
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
      const result = await this.#record.take(expected);
      if (result.ok) return result.revision;
      // A write whose response was lost may have succeeded.
      const { current } = result;
      const isOwn = current && this.#record.read(current).holder === this.#record.identity;
      return isOwn ? current.modRevision : "lost";
    } catch {
      return "failed";
    }
  }

  async #resign(revision: number): Promise<void> {
    await this.#record.release(revision).catch(() => undefined);
  }
}

/** Empty if the record cannot be read. It is replaced only when it is old. */
function holderOf(entry: Entry): string {
  try {
    const record = parseJsonText(Buffer.from(entry.value).toString()) as { holder?: unknown };
    return typeof record.holder === "string" ? record.holder : "";
  } catch {
    return "";
  }
}
