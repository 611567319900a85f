import assert from "node:assert/strict";
import { it } from "node:test";
import { ManualClock } from "../base/util/environment.suite.ts";
import { type Expired, Expiry } from "./expiry.ts";

it("reports what expires in order of time, and nothing after close", async () => {
  const clock = new ManualClock();
  const reported: string[] = [];
  const note = (expired: readonly Expired[]) => {
    for (const { key, modRevision } of expired) reported.push(`${key} ${modRevision} after ${clock.monotonic()} ms`);
  };
  const expiry = new Expiry(note, clock);
  const now = clock.now();
  expiry.add("/later", 3, now + 30);
  expiry.add("/much-later", 5, now + 3_600_000);
  expiry.add("/sooner", 4, now + 10);
  expiry.add("/past", 2, now - 1000);
  await clock.advance(3_599_999);
  assert.deepEqual(reported, ["/past 2 after 0 ms", "/sooner 4 after 10 ms", "/later 3 after 30 ms"]);
  await clock.advance(1);
  assert.equal(reported[3], "/much-later 5 after 3600000 ms");
  expiry.add("/never", 6, clock.now() + 5);
  expiry.close();
  await clock.advance(3_600_000);
  assert.equal(reported.length, 4);
});

it("notices within a minute that the system clock was changed", async () => {
  const clock = new ManualClock();
  const reported: Expired[] = [];
  const expiry = new Expiry((expired) => reported.push(...expired), clock);
  expiry.add("/hour", 2, clock.now() + 3_600_000);
  clock.set(clock.now() + 3_600_000);
  await clock.advance(60_000);
  assert.equal(reported.length, 1);
  expiry.close();
});
