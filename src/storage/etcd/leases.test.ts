import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { Leases } from "./leases.ts";

function setUp() {
  const granted: number[] = [];
  const clock = new ManualClock(0);
  const leases = new Leases(async (ttlSeconds) => BigInt(granted.push(ttlSeconds)), clock);
  return { granted, clock, leases };
}

describe("Leases", () => {
  it("shares a lease for 5 % of the TTL, and lets it last that much longer", async () => {
    const { granted, clock, leases } = setUp();
    const first = await leases.leaseFor(200);
    clock.set(9_999);
    assert.equal(await leases.leaseFor(200), first);
    clock.set(10_000);
    assert.notEqual(await leases.leaseFor(200), first);
    assert.deepEqual(granted, [210, 210]);
  });

  it("shares a lease for at most a minute and among at most 1000 keys", async () => {
    const { granted, clock, leases } = setUp();
    for (let i = 0; i < 1001; i++) await leases.leaseFor(3600);
    assert.deepEqual(granted, [3660, 3660]);
    clock.set(60_000);
    await leases.leaseFor(3600);
    assert.equal(granted.length, 3);
  });

  it("does not share leases of different or very short TTLs", async () => {
    const { granted, leases } = setUp();
    await Promise.all([leases.leaseFor(100), leases.leaseFor(200), leases.leaseFor(1), leases.leaseFor(1)]);
    assert.deepEqual(granted, [105, 210, 1, 1]);
  });

  it("requests a lease once for concurrent callers, and again after a failure or a loss", async () => {
    let calls = 0;
    const grant = async () => {
      if (++calls === 1) throw new Error("no");
      return BigInt(calls);
    };
    const leases = new Leases(grant, new ManualClock());
    const results = await Promise.allSettled([leases.leaseFor(100), leases.leaseFor(100)]);
    assert.deepEqual(
      results.map((result) => result.status),
      ["rejected", "rejected"],
    );
    assert.equal(await leases.leaseFor(100), 2n);
    leases.forget(100);
    assert.equal(await leases.leaseFor(100), 3n);
  });
});
