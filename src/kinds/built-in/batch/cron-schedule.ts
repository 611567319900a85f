import { readDuration } from "../../../base/go/duration.ts";
import { quote } from "../../../base/go/quote.ts";
import { getMember } from "../../../base/util/members.ts";
import { timeZoneProblem } from "./time-zone.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** The fields of a cron expression: minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
/** The fields that a nickname stands for. */
const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MAX_INT64 = 2 ** 63;
const SECOND = 1_000_000_000n;

/** A schedule in the form of `@every 1h30m`. */
export interface IntervalSchedule {
  /** At least 1. */
  readonly everySeconds: number;
}

/** A schedule with the five fields of cron. A field without values never matches. */
export interface FieldSchedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Whether a day must match both fields of days. Otherwise one of them is enough. */
  readonly needsBothDays: boolean;
  /** IANA name. Optional. If omitted, the time zone of the caller. */
  readonly zone?: string;
}

/** A parsed `spec.schedule`. */
export type Schedule = IntervalSchedule | FieldSchedule;

/** Why `spec.schedule` is not a cron expression; the message is the wire text. */
class ScheduleError extends Error {}

/** Why `spec.schedule` is invalid, with the message of robfig/cron's parser; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule);
  return typeof parsed === "string" ? parsed : undefined;
}

/** Parses `spec.schedule` like robfig/cron. Returns its message if the schedule is invalid. */
export function parseSchedule(schedule: string): Schedule | string {
  try {
    const { zone, text } = splitZone(schedule);
    const parsed = text.startsWith("@") ? parseNickname(text) : parseFields(text);
    return zone === undefined || "everySeconds" in parsed ? parsed : { ...parsed, zone };
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function splitZone(schedule: string): { readonly zone?: string; readonly text: string } {
  if (!/^(CRON_)?TZ=/.test(schedule)) return { text: schedule };
  const blank = schedule.indexOf(" ");
  const start = schedule.indexOf("=") + 1;
  // Compat: robfig/cron panics on `TZ=` without a space after it, and kube-apiserver's message shows Go's "slice bounds
  // out of range".
  if (blank < 0) throw new ScheduleError(`invalid schedule format: runtime error: slice bounds out of range [:-1]`);
  const zone = schedule.slice(start, blank);
  const problem = zone === "" ? undefined : timeZoneProblem(zone);
  if (problem !== undefined) throw new ScheduleError(`provided bad location ${zone}: ${problem}`);
  const text = schedule.slice(blank).trim();
  return zone === "Local" ? { text } : { zone: zone || "UTC", text };
}

function parseNickname(text: string): Schedule {
  const fields = getMember(NICKNAMES, text);
  if (fields !== undefined) return parseFields(fields);
  const every = "@every ";
  if (!text.startsWith(every)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const read = readDuration(text.slice(every.length));
  if (typeof read === "string") throw new ScheduleError(`failed to parse duration ${text}: ${read}`);
  return { everySeconds: Math.max(1, Number(read / SECOND)) };
}

function parseFields(text: string): FieldSchedule {
  const fields = text.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    const found = `found ${fields.length}: [${fields.join(" ")}]`;
    throw new ScheduleError(`expected exactly ${FIELDS.length} fields, ${found}`);
  }
  const parsed = FIELDS.map((bounds, index) => parseField(fields[index] ?? "", bounds));
  const [minutes = NEVER, hours = NEVER, days = NEVER, months = NEVER, weekdays = NEVER] = parsed;
  return {
    minutes: minutes.values,
    hours: hours.values,
    days: days.values,
    months: months.values,
    weekdays: weekdays.values,
    needsBothDays: days.isAny || weekdays.isAny,
  };
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** Whether the field has a `*` or `?`. */
  readonly isAny: boolean;
}

const NEVER: Field = { values: new Set(), isAny: false };

function parseField(text: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isAny = false;
  for (const range of text.split(",").filter((one) => one !== "")) {
    const { start, end, step, isWhole } = parseRange(range, bounds);
    for (let value = start; value <= end; value += step) values.add(value);
    isAny ||= isWhole;
  }
  return { values, isAny };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly isWhole: boolean;
}

/** `first[-last][/step]`, where `*` and `?` mean the whole range. */
function parseRange(range: string, bounds: Bounds): Range {
  const [limits = "", stepText, ...slashes] = range.split("/");
  const [first = "", last, ...hyphens] = limits.split("-");
  const isWhole = first === "*" || first === "?";
  const start = isWhole ? bounds.min : parseMember(first, bounds);
  let end = isWhole ? bounds.max : start;
  if (!isWhole) {
    if (hyphens.length > 0) throw new ScheduleError(`too many hyphens: ${range}`);
    if (last !== undefined) end = parseMember(last, bounds);
  }
  if (slashes.length > 0) throw new ScheduleError(`too many slashes: ${range}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && last === undefined) end = bounds.max;
  checkLimits({ start, end, step }, bounds, range);
  return { start, end, step, isWhole: isWhole && step === 1 };
}

function checkLimits(
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
  { min, max }: Bounds,
  range: string,
): void {
  if (start < min) throw new ScheduleError(`beginning of range (${start}) below minimum (${min}): ${range}`);
  if (end > max) throw new ScheduleError(`end of range (${end}) above maximum (${max}): ${range}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${range}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${range}`);
}

function parseMember(text: string, { names = [], min }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseNumber(text) : index + min;
}

function parseNumber(text: string): number {
  const failure = (cause: string) =>
    new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: ${cause}`);
  if (!/^[+-]?\d+$/.test(text)) throw failure("invalid syntax");
  const number = Number(text);
  if (Math.abs(number) >= MAX_INT64) throw failure("value out of range");
  if (number < 0) throw new ScheduleError(`negative number (${number}) not allowed: ${text}`);
  return number;
}
