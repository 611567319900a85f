import assert from "node:assert/strict";
import { test } from "node:test";
import { scheduleProblem } from "./cron-schedule.ts";
import { countIndexes, firstCommonIndex } from "./index-intervals.ts";
import { timeZoneProblem } from "./time-zone.ts";

test("validates schedules", () => {
  for (const good of [
    "* * * * *",
    "*/5 0-23/2 ? JAN-dec sun,3",
    "@hourly",
    "@every 1h30m",
    "@every 0",
    "@every -0.5s.5h1.µs",
    "@every 2562047h",
    `@every ${"0".repeat(100_000)}1s`,
    `@every ${"1ns".repeat(100_000)}`,
    "0 0 1 1 0",
    "CRON_TZ=UTC 1 2 3 4 5",
  ]) {
    assert.equal(scheduleProblem(good), undefined, good);
  }
  const ones = "1".repeat(1_000_000);
  const rows: [schedule: string, problem: string][] = [
    ["sometimes", "expected exactly 5 fields, found 1: [sometimes]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["1/2/3 * * * *", "too many slashes: 1/2/3"],
    ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    [
      "99999999999999999999 * * * *",
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ["@never", "unrecognized descriptor: @never"],
    ["@every 1x", 'failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"'],
    ["@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ["@every ", 'failed to parse duration @every : time: invalid duration ""'],
    ["@every .s", 'failed to parse duration @every .s: time: invalid duration ".s"'],
    ["@every 1hs", 'failed to parse duration @every 1hs: time: unknown unit "hs" in duration "1hs"'],
    ["@every 1h2", 'failed to parse duration @every 1h2: time: missing unit in duration "1h2"'],
    ["@every 1..s", 'failed to parse duration @every 1..s: time: missing unit in duration "1..s"'],
    [
      '@every 1é"',
      'failed to parse duration @every 1é": time: unknown unit "\\xc3\\xa9\\"" in duration "1\\xc3\\xa9\\""',
    ],
    ["@every 2562048h", 'failed to parse duration @every 2562048h: time: invalid duration "2562048h"'],
    [`@every ${ones}`, `failed to parse duration @every ${ones}: time: invalid duration "${ones}"`],
    ["TZ=Mars/Base * * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"],
  ];
  for (const [schedule, problem] of rows) assert.equal(scheduleProblem(schedule), problem);
});

test("validates time zones", () => {
  for (const good of ["UTC", "Europe/Berlin", "US/Eastern", "Etc/GMT+1", "Local"])
    assert.equal(timeZoneProblem(good), undefined);
  for (const bad of ["utc", "europe/berlin", "Mars/Base", "+01"])
    assert.equal(timeZoneProblem(bad), `unknown time zone ${bad}`);
});

test("validates completion indexes", () => {
  assert.deepEqual(countIndexes("0-2,4,7-9", 10), { total: 7 });
  assert.deepEqual(countIndexes("", 10), { total: 0 });
  assert.equal(countIndexes("3-1", 10).problem, "non-increasing order, previous: 3, current: 1");
  assert.equal(countIndexes("1,10", 10).problem, 'too large index: "10"');
  assert.equal(countIndexes("a", 10).problem, 'cannot convert string to integer for index: "a"');
  assert.equal(firstCommonIndex("0-3,8", "2-5", 10), 2);
  assert.equal(firstCommonIndex("0,2,x", "1,3", 10), undefined);
});
