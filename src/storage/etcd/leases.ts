import type { Clock } from "../../base/util/clock.ts";

/** Grants a lease with this TTL and resolves to its id. */
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
 * Leases shared by keys that expire at about the same time. A lease accepts new keys for 5 % of their TTL, at most 60 s
 * and 1000 keys, and lasts that much longer: no key expires early, some expire slightly late.
 */
export class Leases {
  readonly #grant: Grant;
  readonly #clock: Clock;
  readonly #byTtl = new Map<number, SharedLease>();

  constructor(grant: Grant, clock: Clock) {
    this.#grant = grant;
    this.#clock = clock;
  }

  /** A lease that lasts at least this many seconds from now. */
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

  /** Call if etcd no longer knows the lease last returned for this TTL. */
  forget(ttlSeconds: number): void {
    this.#byTtl.delete(ttlSeconds);
  }
}
