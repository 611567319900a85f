import { durationType, intType, stringType, timestampType } from "../values/types.ts";
import { CelError, type Duration, intOf, type Timestamp, type Value } from "../values/value.ts";
import type { FunctionDeclaration, Overload } from "./library.ts";

/** Reads a part of a date, whose UTC fields contain the local time of a zone. */
type Read = (date: Date, time: Timestamp) => number;

const DAY_MS = 86_400_000;

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  start.setUTCHours(0, 0, 0, 0);
  return Math.floor((date.getTime() - start.getTime()) / DAY_MS);
}

/** Function, overload without a zone, overload with a zone, and reader. */
const READERS: readonly (readonly [string, string, string, Read])[] = [
  ["getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz", (date) => date.getUTCFullYear()],
  ["getMonth", "timestamp_to_month", "timestamp_to_month_with_tz", (date) => date.getUTCMonth()],
  ["getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", dayOfYear],
  ["getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", (date) => date.getUTCDate() - 1],
  [
    "getDate",
    "timestamp_to_day_of_month_1_based",
    "timestamp_to_day_of_month_1_based_with_tz",
    (date) => date.getUTCDate(),
  ],
  ["getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", (date) => date.getUTCDay()],
  ["getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz", (date) => date.getUTCHours()],
  ["getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz", (date) => date.getUTCMinutes()],
  ["getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", (date) => date.getUTCSeconds()],
  [
    "getMilliseconds",
    "timestamp_to_milliseconds",
    "timestamp_to_milliseconds_with_tz",
    (_, time) => Math.floor(time.nanos / 1_000_000),
  ],
];

/** Overload ids and nanoseconds of duration units. */
const DURATION_UNITS: ReadonlyMap<string, readonly [string, bigint]> = new Map([
  ["getHours", ["duration_to_hours", 3_600_000_000_000n]],
  ["getMinutes", ["duration_to_minutes", 60_000_000_000n]],
  ["getSeconds", ["duration_to_seconds", 1_000_000_000n]],
  ["getMilliseconds", ["duration_to_milliseconds", 1_000_000n]],
]);

function overloadsOf([name, plain, zoned, read]: (typeof READERS)[number]): Overload[] {
  const inUtc = (time: Timestamp): Value => read(new Date(time.seconds * 1000), time);
  const inZone = (time: Timestamp, zone: string): Value => {
    const seconds = offsetAt(time.seconds, zone);
    return seconds instanceof CelError ? seconds : read(new Date((time.seconds + seconds) * 1000), time);
  };
  const overloads: Overload[] = [
    { id: plain, args: [timestampType], result: intType, isMember: true, call: inUtc },
    { id: zoned, args: [timestampType, stringType], result: intType, isMember: true, call: inZone },
  ];
  const [id, unit] = DURATION_UNITS.get(name) ?? [];
  if (id !== undefined && unit !== undefined) {
    const call = ({ nanos }: Duration): Value => intOf(nanos / unit);
    overloads.push({ id, args: [durationType], result: intType, isMember: true, call });
  }
  return overloads;
}

/** getFullYear() and similar functions. */
export const timeFunctions: readonly FunctionDeclaration[] = READERS.map((reader) => ({
  name: reader[0],
  overloads: overloadsOf(reader),
}));

/** The UTC offset of a time zone in seconds, at a time. */
function offsetAt(seconds: number, zone: string): number | CelError {
  const colon = zone.indexOf(":");
  if (colon >= 0) return fixedOffset(zone, colon);
  if (zone === "" || zone === "UTC" || zone === "Local") return 0;
  const format = formatOf(zone);
  if (format === undefined) return new CelError(`unknown time zone ${zone}`);
  const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
  const numbers = ["year", "month", "day", "hour", "minute", "second"].map((name) => Number(parts.get(name as "year")));
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number];
  const local = new Date(0);
  local.setUTCFullYear(parts.get("era") === "BC" ? 1 - year : year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  return local.getTime() / 1000 - seconds;
}

function fixedOffset(zone: string, colon: number): number | CelError {
  const hours = integer(zone.slice(0, colon));
  const minutes = integer(zone.slice(colon + 1));
  if (hours instanceof CelError) return hours;
  if (minutes instanceof CelError) return minutes;
  return (zone.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes) * 60;
}

function integer(text: string): number | CelError {
  if (/^[+-]?\d{1,4}$/.test(text)) return Number(text);
  return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

const MAX_ZONES = 64;
const formats = new Map<string, Intl.DateTimeFormat | undefined>();

/** A formatter for a zone of the IANA database. Undefined if there is no such zone. */
function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formats.has(zone)) return formats.get(zone);
  let format: Intl.DateTimeFormat | undefined;
  // Go accepts only names of the database, not offsets.
  if (/^(?:[A-Z][A-Za-z0-9_+-]{0,31}(?:\/|$)){1,3}$/.test(zone)) {
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        hourCycle: "h23",
        era: "short",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
      const { timeZone } = format.resolvedOptions();
      if (timeZone !== zone && timeZone.toLowerCase() === zone.toLowerCase()) format = undefined;
    } catch {
      format = undefined;
    }
  }
  if (formats.size >= MAX_ZONES) formats.delete(formats.keys().next().value as string);
  formats.set(zone, format);
  return format;
}
