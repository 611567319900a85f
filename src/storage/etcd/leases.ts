import type { Clock } from "../../lib/clock.ts";

/** Grants a lease of so many seconds and resolves to its id. */
export type Grant = (ttlSeconds: number) => Promise<bigint>;

const LONGEST_REUSE_SECONDS = 60;
const REUSE_SHARE = 0.05;
const MOST_KEYS = 1000;

interface SharedLease {
  readonly id: Promise<bigint>;
  readonly usableUntil: number;
  keys: number;
}

/**
 * Leases shared by keys that are to expire at about the same time. A lease takes new keys for 5 % of their time to live,
 * at most 60 seconds and 1000 keys, and lasts longer by as much: no key goes early, some go a little late.
 */
export class Leases {
  readonly #grant: Grant;
  readonly #clock: Clock;
  readonly #byTtl = new Map<number, SharedLease>();

  constructor(grant: Grant, clock: Clock) {
    this.#grant = grant;
    this.#clock = clock;
  }

  /** A lease that lasts at least so many seconds from now. */
  async leaseFor(ttlSeconds: number): Promise<bigint> {
    const now = this.#clock.now();
    const shared = this.#byTtl.get(ttlSeconds);
    if (shared !== undefined && shared.keys < MOST_KEYS && now < shared.usableUntil) {
      shared.keys++;
      return shared.id;
    }
    for (const [ttl, lease] of this.#byTtl) if (lease.usableUntil <= now) this.#byTtl.delete(ttl);
    const reuseSeconds = Math.min(LONGEST_REUSE_SECONDS, Math.floor(ttlSeconds * REUSE_SHARE));
    const id = this.#grant(ttlSeconds + reuseSeconds);
    const lease = { id, usableUntil: now + reuseSeconds * 1000, keys: 1 };
    this.#byTtl.set(ttlSeconds, lease);
    try {
      return await id;
    } catch (error) {
      if (this.#byTtl.get(ttlSeconds) === lease) this.#byTtl.delete(ttlSeconds);
      throw error;
    }
  }

  /** To be called when etcd no longer knows the lease last given for this time to live. */
  forget(ttlSeconds: number): void {
    this.#byTtl.delete(ttlSeconds);
  }
}
