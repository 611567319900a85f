import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "../../src/base/util/steps.ts";
import { StepCounter } from "./steps.ts";

const counter = new StepCounter();

/** Runs a loop in src/ so many times. */
function loop(times: number): void {
  finish(
    (function* () {
      for (let i = 0; i < times; i++) yield;
    })(),
  );
}

test("counts the runs of a loop, the same each time", () => {
  const counts = [0, 1, 2].map(() => counter.count(() => loop(10_000)));
  for (const steps of counts) assert.ok(steps >= 10_000 && steps < 30_000, counts.join());
});

test("finds code that takes more than linear time", () => {
  counter.assertLinear((size) => loop(size), 1000);
  assert.throws(() => counter.assertLinear((size) => loop(size * size), 100), /four times the size/);
});
