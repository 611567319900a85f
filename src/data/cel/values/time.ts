import { readDuration } from "../../../base/go/duration.ts";
import { daysOfMonth } from "../../../base/util/days-of-month.ts";
import { trimRight } from "../../../base/util/trim-right.ts";
import { CelError, Duration, Timestamp } from "./value.ts";

const SECOND = 1_000_000_000n;
const MAX_INT64 = (1n << 63n) - 1n;
const MIN_INT64 = -(1n << 63n);
/** The seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;

const DURATION_OVERFLOW = new CelError("duration overflow");
const TIMESTAMP_OVERFLOW = new CelError("timestamp overflow");

/** A duration, or an error if it exceeds 64 bits. */
export function durationOf(nanos: bigint): Duration | CelError {
  return nanos > MAX_INT64 || nanos < MIN_INT64 ? DURATION_OVERFLOW : new Duration(nanos);
}

/** A timestamp from nanoseconds since 1970, or an error outside of the years 1 to 9999. */
export function timestampOf(nanos: bigint, offset: number): Timestamp | CelError {
  let seconds = nanos / SECOND;
  let rest = nanos % SECOND;
  if (rest < 0n) {
    rest += SECOND;
    seconds -= 1n;
  }
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return TIMESTAMP_OVERFLOW;
  return new Timestamp(Number(seconds), Number(rest), offset);
}

/** Nanoseconds since 1970. */
export const nanosOf = (time: Timestamp): bigint => BigInt(time.seconds) * SECOND + BigInt(time.nanos);

/** A timestamp from seconds since 1970, like timestamp(int). */
export function timestampOfSeconds(seconds: number | bigint): Timestamp | CelError {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return TIMESTAMP_OVERFLOW;
  return new Timestamp(Number(seconds), 0);
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** Parses RFC 3339 like Go's time.Parse. Undefined if it is malformed, an error if the year is not within 1 to 9999. */
export function parseTimestamp(text: string): Timestamp | CelError | undefined {
  const match = text.length > 100 ? null : RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match;
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [y, mo, d, h, mi, s] = parts;
  if (mo < 1 || mo > 12 || d < 1 || d > daysOfMonth(y, mo) || h > 23 || mi > 59 || s > 59) return undefined;
  const offset = offsetOf(zone);
  if (offset === undefined) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  date.setUTCHours(h, mi, s);
  const seconds = date.getTime() / 1000 - offset;
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return TIMESTAMP_OVERFLOW;
  return new Timestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, "0")), offset);
}

/** The UTC offset in seconds. */
function offsetOf(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4));
  if (hours > 24 || minutes > 60) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** RFC 3339 with the necessary fractional digits, in its original zone. */
export function formatTimestamp({ seconds, nanos, offset }: Timestamp): string {
  const date = new Date((seconds + offset) * 1000);
  const year = String(date.getUTCFullYear()).padStart(4, "0");
  const text = `${year}${date.toISOString().slice(-20, -5)}`;
  return `${text}${nanos === 0 ? "" : `.${fractionOf(nanos, 9)}`}${formatOffset(offset)}`;
}

function formatOffset(offset: number): string {
  if (offset === 0) return "Z";
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const fractionOf = (value: number, digits: number) => trimRight(value.toString().padStart(digits, "0"), "0");

/** Parses a duration such as -1.5h like Go's time.ParseDuration. Undefined if it is malformed. */
export function parseDuration(text: string): Duration | undefined {
  const nanos = readDuration(text);
  return typeof nanos === "string" ? undefined : new Duration(nanos);
}

/** The duration in seconds, like string(duration): cel-go divides and formats with %v and the unit. */
export function formatDuration({ nanos }: Duration): string {
  const negative = nanos < 0n;
  const magnitude = negative ? -nanos : nanos;
  const fraction = Number(magnitude % SECOND);
  return `${negative ? "-" : ""}${magnitude / SECOND}${fraction === 0 ? "" : `.${fractionOf(fraction, 9)}`}s`;
}
