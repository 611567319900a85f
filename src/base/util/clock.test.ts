import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "./clock.ts";

const MAX_DELAY_MS = 2 ** 31 - 1;

suite("systemClock", () => {
  test("fires after delays that are too long for a timer of Node", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const call = t.mock.fn();
    systemClock.setTimer(2 * MAX_DELAY_MS + 1000, call).unref();
    t.mock.timers.tick(MAX_DELAY_MS);
    t.mock.timers.tick(MAX_DELAY_MS);
    t.mock.timers.tick(999);
    assert.equal(call.mock.callCount(), 0);
    t.mock.timers.tick(1);
    assert.equal(call.mock.callCount(), 1);
  });

  test("sets no timer that Node would fire at once", (t) => {
    const { mock } = t.mock.method(globalThis, "setTimeout");
    systemClock.setTimer(10 * MAX_DELAY_MS, () => assert.fail("closed")).close();
    assert.deepEqual(
      mock.calls.map(({ arguments: [, delayMs] }) => delayMs),
      [MAX_DELAY_MS],
    );
  });
});
