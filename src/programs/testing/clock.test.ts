import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../../test/support/time.ts";
import { DrivenClock, FollowingClock, spanMs } from "./clock.ts";

const START = Date.UTC(2026, 0, 1);
const still = () => new DrivenClock({ nowMs: START, isRunning: false }, async () => void (await nextTurn()));

suite("the clock of a control plane", () => {
  test("only moves when advanced, and fires due timers in order of time", async () => {
    const clock = still();
    const fired: string[] = [];
    const record = (what: string) => () => void fired.push(`${what} ${(clock.now() - START) / 1000}`);
    clock.setTimer(5000, record("late"));
    clock.setInterval(2000, record("again"));
    clock.setTimer(1000, () => clock.setTimer(500, record("caused")));
    clock.setTimer(3000, record("never")).close();
    await clock.advance({ seconds: 5 });
    assert.deepEqual(fired, ["caused 1.5", "again 2", "again 4", "late 5"]);
    assert.equal(clock.now(), START + 5000);
    assert.equal(clock.isRunning, false);
  });

  test("follows real time after run()", async () => {
    const clock = still();
    let isCalled = false;
    clock.setTimer(1, () => {
      isCalled = true;
    });
    clock.run();
    await eventually(() => isCalled && clock.now() > START);
    clock.stop();
    const stopped = clock.now();
    await clock.advance(1000);
    assert.equal(clock.now(), stopped + 1000);
  });

  test("rejects a second advance() while the first is pending", async () => {
    const clock = still();
    const first = clock.advance(1);
    await assert.rejects(clock.advance(1), /await the first advance/);
    await first;
  });

  test("accepts spans in milliseconds or by unit", () => {
    assert.equal(spanMs({ days: 1, hours: 1, minutes: 1, seconds: 1, ms: 1 }), 90_061_001);
    assert.throws(() => spanMs(-1), /expected milliseconds or \{ hours: 24 \}/);
    assert.throws(() => spanMs({ hours: Number.NaN }), RangeError);
  });

  test("rejects unknown units of time, with a suggestion", async () => {
    const unknown = { hour: 1 } as never;
    assert.throws(() => spanMs(unknown), {
      name: "TypeError",
      message: 'unknown time unit "hour", did you mean hours?',
    });
    assert.throws(
      () => spanMs({ weeks: 1 } as never),
      /^TypeError: unknown time unit "weeks"; known units: days, hours/,
    );
    await assert.rejects(still().advance(unknown), /did you mean hours\?/);
  });
});

suite("a clock that follows another", () => {
  test("keeps its timers and its monotonic time when the followed clock is replaced", async () => {
    const [first, second] = [still(), still()];
    const clock = new FollowingClock(first);
    const fired: string[] = [];
    const record = (what: string) => () => void fired.push(`${what} ${clock.monotonic()}`);
    clock.setTimer(3000, record("once"));
    clock.setInterval(2000, record("again"));
    clock.setTimer(2500, record("never")).close();
    await first.advance(1000);
    clock.follow(second);
    first.close();
    assert.equal(clock.monotonic(), 1000);
    await second.advance(3000);
    assert.deepEqual(fired, ["again 2000", "once 3000", "again 4000"]);
  });
});
