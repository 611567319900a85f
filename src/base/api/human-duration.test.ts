import assert from "node:assert/strict";
import { test } from "node:test";
import { ageOf, humanDuration } from "./human-duration.ts";

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

test("durations are printed with the precision that fits their size", () => {
  const cases: [number, string][] = [
    [-5 * S, "<invalid>"],
    [-1.5 * S, "0s"],
    [-1, "0s"],
    [0, "0s"],
    [119.9 * S, "119s"],
    [120 * S, "2m"],
    [9 * M + 59 * S, "9m59s"],
    [10 * M, "10m"],
    [179 * M + 59 * S, "179m"],
    [3 * H, "3h"],
    [7 * H + 59 * M, "7h59m"],
    [8 * H, "8h"],
    [47 * H + 59 * M, "47h"],
    [48 * H, "2d"],
    [7 * D + 23 * H, "7d23h"],
    [8 * D, "8d"],
    [729 * D, "729d"],
    [730 * D, "2y"],
    [731 * D, "2y1d"],
    [2919 * D, "7y364d"],
    [2920 * D, "8y"],
  ];
  for (const [duration, text] of cases) assert.equal(humanDuration(duration), text);
});

test("the age of a missing or malformed timestamp is unknown or invalid", () => {
  const now = Date.parse("2030-01-01T00:01:00Z");
  assert.equal(ageOf("2030-01-01T00:00:00Z", now), "60s");
  assert.equal(ageOf("2029-12-31T23:59:59.500000Z", now), "60s");
  assert.equal(ageOf(null, now), "<unknown>");
  assert.equal(ageOf(undefined, now), "<unknown>");
  assert.equal(ageOf("yesterday", now), "<invalid>");
});
