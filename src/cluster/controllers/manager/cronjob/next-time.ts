import type { FieldSchedule, Schedule } from "../../../../kinds/built-in/batch/cron-schedule.ts";
import { type Zone, zoneNamed } from "./zone.ts";

/** How a moment moves to the next one that a field of a schedule matches. Moments are seconds of Unix time. */
interface Unit {
  /** `local` shows the local time by its UTC methods. */
  matches(schedule: FieldSchedule, local: Date): boolean;
  /** The beginning of the present month, day, hour or minute. */
  start(zone: Zone, at: number): number;
  advance(zone: Zone, at: number, schedule: FieldSchedule): number;
  /** Whether a larger unit has changed, so that all fields must be checked again. */
  wraps(local: Date): boolean;
}

const MINUTE = 60;
const MINUTES = 60;
const HOUR = MINUTES * MINUTE;

const UNITS: readonly Unit[] = [
  {
    matches: ({ months }, local) => months.has(local.getUTCMonth() + 1),
    start: (zone, at) => startOf(zone, at, { day: 1, hour: 0 }),
    advance: (zone, at) => addDate(zone, at, { months: 1 }),
    wraps: (local) => local.getUTCMonth() === 0,
  },
  {
    matches: matchesDay,
    start: (zone, at) => startOf(zone, at, { hour: 0 }),
    advance: nextDay,
    wraps: (local) => local.getUTCDate() === 1,
  },
  {
    matches: ({ hours }, local) => hours.has(local.getUTCHours()),
    start: (zone, at) => startOf(zone, at),
    advance: (_, at) => at + HOUR,
    wraps: (local) => local.getUTCHours() === 0,
  },
  {
    matches: ({ minutes }, local) => minutes.has(local.getUTCMinutes()),
    start: (_, at) => at - (at % MINUTE),
    advance: nextMinute,
    wraps: (local) => local.getUTCMinutes() === 0,
  },
  {
    matches: (_, local) => local.getUTCSeconds() === 0,
    start: (_, at) => at,
    advance: (_, at) => at + MINUTE - (at % MINUTE),
    wraps: () => true,
  },
];

/** Upstream: a time that is not found within five years is none. */
const MAX_YEARS = 5;

/**
 * The first time of the schedule after `afterMs`. Undefined if there is none. Schedules without a time zone are in UTC.
 *
 * Compat: the same steps as in Next of robfig/cron's SpecSchedule, because they decide what happens where a time zone
 * skips or repeats an hour.
 */
export function nextTime(schedule: Schedule, afterMs: number): number | undefined {
  const second = Math.floor(afterMs / 1000);
  if ("everySeconds" in schedule) return (second + schedule.everySeconds) * 1000;
  const { minutes, hours, months, days, weekdays } = schedule;
  if ([minutes, hours, months].some(({ size }) => size === 0) || days.size + weekdays.size === 0) return undefined;
  const found = seek(schedule, zoneNamed(schedule.zone ?? "UTC"), second + 1);
  return found === undefined ? undefined : found * 1000;
}

function seek(schedule: FieldSchedule, zone: Zone, from: number): number | undefined {
  const lastYear = zone.local(from).getUTCFullYear() + MAX_YEARS;
  let at = from;
  let isMoved = false;
  for (let position = 0; ; ) {
    const unit = UNITS[position];
    if (unit === undefined) return at;
    const local = zone.local(at);
    if (local.getUTCFullYear() > lastYear) return undefined;
    if (unit.matches(schedule, local)) {
      position += 1;
      continue;
    }
    if (!isMoved) at = unit.start(zone, at);
    isMoved = true;
    at = unit.advance(zone, at, schedule);
    if (unit.wraps(zone.local(at))) position = 0;
  }
}

function matchesDay({ days, weekdays, needsBothDays }: FieldSchedule, local: Date): boolean {
  const isDay = days.has(local.getUTCDate());
  const isWeekday = weekdays.has(local.getUTCDay());
  return needsBothDays ? isDay && isWeekday : isDay || isWeekday;
}

function startOf(zone: Zone, at: number, { day, hour }: { day?: number; hour?: number } = {}): number {
  const local = zone.local(at);
  local.setUTCHours(hour ?? local.getUTCHours(), 0, 0);
  local.setUTCDate(day ?? local.getUTCDate());
  return zone.at(local);
}

function addDate(zone: Zone, at: number, { months = 0, days = 0 }: { months?: number; days?: number }): number {
  const local = zone.local(at);
  local.setUTCMonth(local.getUTCMonth() + months, local.getUTCDate() + days);
  return zone.at(local);
}

/** Midnight of the next day. Where a time zone skips midnight, the result may be an hour off at first. */
function nextDay(zone: Zone, at: number): number {
  const next = addDate(zone, at, { days: 1 });
  const hour = zone.local(next).getUTCHours();
  return next + (hour > 12 ? 24 - hour : -hour) * HOUR;
}

/** The next minute that matches, or that of the next hour. Goes step by step in an hour that the time zone changes. */
function nextMinute(zone: Zone, at: number, { minutes }: FieldSchedule): number {
  const now = zone.local(at).getUTCMinutes();
  let next = now + 1;
  while (next < MINUTES && !minutes.has(next)) next += 1;
  const target = at + (next - now) * MINUTE;
  return zone.offset(target) === zone.offset(at) ? target : at + MINUTE;
}
