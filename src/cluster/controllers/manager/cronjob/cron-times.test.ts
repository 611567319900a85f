import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseSchedule } from "../../../../kinds/built-in/batch/cron-schedule.ts";
import type { CronJob, CronJobSpec, CronJobStatus } from "../../../../kinds/built-in/batch/job-types.ts";
import { lastDue, untilNextMs } from "./cron-times.ts";
import { nextTime } from "./next-time.ts";

const ms = (time: string) => Date.parse(`2026-${time}Z`);
const schedule = (text: string) => {
  const parsed = parseSchedule(text);
  assert.ok(typeof parsed !== "string", String(parsed));
  return parsed;
};
const cronJob = (spec: CronJobSpec = {}, status: CronJobStatus = {}): CronJob => ({
  kind: "CronJob",
  apiVersion: "batch/v1",
  metadata: { name: "x", creationTimestamp: "2026-03-01T10:00:00Z" },
  spec,
  status,
});

suite("times of CronJobs", () => {
  test("follow the fields and the time zone of the schedule", () => {
    const rows: [text: string, after: string, next: string][] = [
      ["*/15 * * * *", "03-01T10:00:00", "03-01T10:15:00"],
      ["30 2 * * *", "03-01T10:00:00", "03-02T02:30:00"],
      ["0 0 13 * 5", "03-01T10:00:00", "03-06T00:00:00"],
      ["0 0 */2 * 5", "03-01T10:00:00", "03-03T00:00:00"],
      ["@every 90m", "03-01T10:00:00", "03-01T11:30:00"],
      ["TZ=Europe/Berlin 30 2 * * *", "03-28T12:00:00", "03-30T00:30:00"],
      ["TZ=Europe/Berlin 0 9 * * *", "03-28T12:00:00", "03-29T07:00:00"],
      ["TZ=Europe/Berlin 30 2 * * *", "10-24T12:00:00", "10-25T00:30:00"],
    ];
    for (const [text, after, next] of rows) assert.equal(nextTime(schedule(text), ms(after)), ms(next), text);
  });

  test("do not exist for days that no month has, and for empty fields", () => {
    for (const text of ["0 0 31 2 *", ", * * * *", "* , * * *", "* * , * ,", "* * , * *"]) {
      assert.equal(nextTime(schedule(text), ms("03-01T10:00:00")), undefined, text);
    }
  });

  test("are found after a long time without listing all of them", () => {
    const every = schedule("* * * * *");
    const due = (now: string, spec?: CronJobSpec, status?: CronJobStatus) =>
      lastDue(cronJob(spec, status), every, ms(now), { usesDeadline: true });
    const fromMs = ms("03-01T10:00:00");
    assert.deepEqual(due("03-01T10:00:59"), { atMs: undefined, fromMs, missed: 0 });
    assert.deepEqual(due("03-01T10:01:30"), { atMs: ms("03-01T10:01:00"), fromMs, missed: 0 });
    assert.deepEqual(due("03-01T10:05:30"), { atMs: ms("03-01T10:05:00"), fromMs, missed: 5 });
    assert.deepEqual(due("09-01T10:05:30"), { atMs: ms("09-01T10:05:00"), fromMs, missed: 264_965 });
    const deadline = { startingDeadlineSeconds: 90 };
    assert.deepEqual(due("09-01T10:05:30", deadline), {
      atMs: ms("09-01T10:05:00"),
      fromMs: ms("09-01T10:04:00"),
      missed: 0,
    });
    const last = { lastScheduleTime: "2026-03-01T10:05:00Z" };
    assert.deepEqual(due("03-01T10:05:30", {}, last), { atMs: undefined, fromMs: ms("03-01T10:05:00"), missed: 0 });
  });

  test("are awaited with a tenth of a second more", () => {
    const hourly = schedule("@hourly");
    assert.equal(untilNextMs(cronJob(), hourly, ms("03-01T10:59:59")), 1100);
    assert.equal(untilNextMs(cronJob(), hourly, ms("03-01T11:30:00")), 1_800_100);
  });
});
