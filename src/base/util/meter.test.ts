import assert from "node:assert/strict";
import { test } from "node:test";
import { currentMeter, Meter, metered, TooCostly, UNLIMITED } from "./meter.ts";

test("a meter throws once more was charged than it had", () => {
  const meter = new Meter(10);
  meter.charge(10);
  assert.throws(() => meter.charge(1), TooCostly);
});

test("each request finds its own meter, across awaits", async () => {
  const run = (units: number) =>
    metered(new Meter(units), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentMeter().left;
    });
  assert.deepEqual(await Promise.all([run(1), run(2), run(3)]), [1, 2, 3]);
  assert.equal(currentMeter(), UNLIMITED);
});

test("work outside of requests is not limited", () => {
  for (let i = 0; i < 100; i++) currentMeter().charge(1e9);
  assert.equal(UNLIMITED.left, Number.POSITIVE_INFINITY);
});
