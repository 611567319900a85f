import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RetryAfter } from "./retry-after.ts";

suite("Retry-After of rejected requests", () => {
  test("doubles while many requests are rejected, and falls again", () => {
    let second = 100;
    const retryAfter = new RetryAfter(() => second * 1000);
    const reject = (count: number): number => {
      let seconds = 0;
      for (let index = 0; index < count; index++) seconds = retryAfter.rejected("low");
      second++;
      return seconds;
    };
    assert.equal(reject(10), 1);
    assert.equal(reject(10), 2);
    assert.equal(reject(10), 2);
    assert.equal(reject(10), 4);
    second += 100;
    assert.equal(reject(1), 3);
    assert.equal(retryAfter.rejected("other"), 1);
  });

  test("is never above 32 seconds", () => {
    let second = 100;
    const retryAfter = new RetryAfter(() => second * 1000);
    let seconds = 0;
    for (; second < 400; second++) for (let index = 0; index < 200; index++) seconds = retryAfter.rejected("low");
    assert.equal(seconds, 32);
  });
});
