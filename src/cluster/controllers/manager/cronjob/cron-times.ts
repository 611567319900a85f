import { memoize } from "../../../../base/util/memoize.ts";
import { parseSchedule, type Schedule } from "../../../../kinds/built-in/batch/cron-schedule.ts";
import type { CronJob } from "../../../../kinds/built-in/batch/job-types.ts";
import { timeZoneProblem } from "../../../../kinds/built-in/batch/time-zone.ts";
import { nextTime } from "./next-time.ts";

/** Upstream: nextScheduleDelta, against differences between clocks. */
const DELTA_MS = 100;
const MANY = 100;

/** The last time at which a Job should have been created. */
export interface Due {
  /** Undefined if there is none since the last Job. */
  readonly atMs: number | undefined;
  /** From where it was searched. */
  readonly fromMs: number;
  /** Roughly, how many times were missed. */
  readonly missed: number;
}

/** Whether a schedule contains its time zone, which is not supported officially. */
export const namesZone = ({ spec }: CronJob): boolean => (spec.schedule ?? "").includes("TZ");

const parse = memoize(parseSchedule, { results: 10_000, textLength: 200 });

/** Parses the schedule, in the time zone of the CronJob. Returns a message if that is not possible. */
export function scheduleOf(cronJob: CronJob): Schedule | string {
  const { schedule = "", timeZone } = cronJob.spec;
  const usesZone = timeZone !== undefined && !namesZone(cronJob) && timeZoneProblem(timeZone) === undefined;
  return parse(usesZone ? `TZ=${timeZone} ${schedule}` : schedule);
}

/** The last time until now. Returns a message for a schedule without times. Upstream: mostRecentScheduleTime */
export function lastDue(
  { metadata, spec, status }: CronJob,
  schedule: Schedule,
  nowMs: number,
  { usesDeadline = false } = {},
): Due | string {
  const { startingDeadlineSeconds } = spec;
  const sinceMs = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? "");
  const hasDeadline = usesDeadline && startingDeadlineSeconds !== undefined;
  const fromMs = hasDeadline ? Math.max(sinceMs, nowMs - startingDeadlineSeconds * 1000) : sinceMs;
  const first = nextTime(schedule, fromMs);
  if (first !== undefined && nowMs < first) return { atMs: undefined, fromMs, missed: 0 };
  const second = first === undefined ? undefined : nextTime(schedule, first);
  if (first === undefined || second === undefined) return "time difference between two schedules is less than 1 second";
  if (nowMs < second) return { atMs: first, fromMs, missed: 0 };
  const periodMs = second - first;
  const missed = Math.trunc((nowMs - first) / periodMs) + 1;
  // Starts two periods earlier, because the periods of a schedule may differ.
  let atMs: number | undefined;
  let next = nextTime(schedule, first + (missed - 2) * periodMs);
  while (next !== undefined && next <= nowMs) {
    atMs = next;
    next = nextTime(schedule, next);
  }
  return { atMs, fromMs, missed };
}

/** Whether so many times were missed that the clock is probably wrong. */
export const isTooManyMissed = ({ missed }: Due): boolean => missed > MANY;

/** Milliseconds until the next sync. Upstream: nextScheduleTimeDuration */
export function untilNextMs(cronJob: CronJob, schedule: Schedule, nowMs: number): number {
  const due = lastDue(cronJob, schedule, nowMs);
  const lastMs = typeof due === "string" ? nowMs : (due.atMs ?? (due.missed === 0 ? due.fromMs : nowMs));
  const next = nextTime(schedule, lastMs);
  return next === undefined ? 0 : Math.max(0, next + DELTA_MS - nowMs);
}
