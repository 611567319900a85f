import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedPodsBackoff } from "./failed-pods-backoff.ts";

test("doubles the delay up to 15 minutes, and forgets it after 30 minutes", () => {
  const backoff = new FailedPodsBackoff();
  assert.equal(backoff.wait("x", 0), undefined);
  assert.equal(backoff.wait("x", 999), 1);
  assert.equal(backoff.wait("y", 999), undefined);
  assert.equal(backoff.wait("x", 1000), undefined);
  assert.equal(backoff.wait("x", 2000), 1000);
  let now = 1000;
  for (let delay = 2000; delay < 900_000; delay *= 2) {
    now += delay;
    assert.equal(backoff.wait("x", now), undefined);
  }
  assert.equal(backoff.wait("x", now + 899_999), 1);
  assert.equal(backoff.wait("x", now + 1_800_001), undefined);
  assert.equal(backoff.wait("x", now + 1_800_002), 999);
});
