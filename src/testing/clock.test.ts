import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../test/support/time.ts";
import { DrivenClock, spanMs } from "./clock.ts";

const START = Date.UTC(2026, 0, 1);
const still = () => new DrivenClock({ nowMs: START, isRunning: false }, async () => void (await nextTurn()));

suite("the clock of a control plane", () => {
  test("stands still until it is advanced, and calls what becomes due in order of time", async () => {
    const clock = still();
    const told: string[] = [];
    const tell = (what: string) => () => void told.push(`${what} ${(clock.now() - START) / 1000}`);
    clock.setTimer(5000, tell("late"));
    clock.setInterval(2000, tell("again"));
    clock.setTimer(1000, () => clock.setTimer(500, tell("caused")));
    clock.setTimer(3000, tell("never")).close();
    await clock.advance({ seconds: 5 });
    assert.deepEqual(told, ["caused 1.5", "again 2", "again 4", "late 5"]);
    assert.equal(clock.now(), START + 5000);
    assert.equal(clock.isRunning, false);
  });

  test("runs when it is told to", async () => {
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

  test("is advanced by one at a time", async () => {
    const clock = still();
    const first = clock.advance(1);
    await assert.rejects(clock.advance(1), /await the first advance/);
    await first;
  });

  test("spans are milliseconds, or told by their units", () => {
    assert.equal(spanMs({ days: 1, hours: 1, minutes: 1, seconds: 1, ms: 1 }), 90_061_001);
    assert.throws(() => spanMs(-1), /expected milliseconds or \{ hours: 24 \}/);
    assert.throws(() => spanMs({ hours: Number.NaN }), RangeError);
  });
});
