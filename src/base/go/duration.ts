import { trimRight } from "../util/trim-right.ts";

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const LIMIT = 2n ** 63n;
const LIMIT_DIGITS = LIMIT.toString().length;
const PART = /([0-9]*)(?:\.([0-9]*))?([^.0-9]*)/gy;

/** Prints nanoseconds like Go's `Duration.String`, such as 1m0.5s. */
export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${printDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return "0s";
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}µs`;
  if (nanoseconds < SECOND) return `${decimal(nanoseconds, 6)}ms`;
  const minutes = nanoseconds / MINUTE;
  const seconds = `${decimal(nanoseconds % MINUTE, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Prints milliseconds like Go's `Duration.String`. */
export const printMilliseconds = (ms: number): string => printDuration(BigInt(Math.round(ms * 1e6)));

/** `count` divided by a power of ten, without trailing zeros. */
function decimal(count: bigint, power: number): string {
  const unit = 10n ** BigInt(power);
  const fraction = trimRight((count % unit).toString().padStart(power, "0"), "0");
  return fraction === "" ? `${count / unit}` : `${count / unit}.${fraction}`;
}

/** Parses a duration such as -1.5h. Returns nanoseconds, or the error message of Go's `time.ParseDuration`. */
export function readDuration(text: string): bigint | string {
  const rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === "0") return 0n;
  const invalid = () => `time: invalid duration ${quote(text)}`;
  if (rest === "") return invalid();
  const isNegative = text.startsWith("-");
  let total = 0n;
  for (const [part, whole = "", fraction = "", unit = ""] of rest.matchAll(PART)) {
    if (part === "") break;
    const count = boundedNumber(whole);
    if (whole + fraction === "" || count === undefined) return invalid();
    if (unit === "") return `time: missing unit in duration ${quote(text)}`;
    const factor = UNITS.get(unit);
    if (factor === undefined) return `time: unknown unit ${quote(unit)} in duration ${quote(text)}`;
    total += count * factor + fractionOf(fraction, factor);
    if (total > LIMIT) return invalid();
  }
  if (total > (isNegative ? LIMIT : LIMIT - 1n)) return invalid();
  return isNegative ? -total : total;
}

/** The number. Undefined if it is too large for any duration. */
function boundedNumber(digits: string): bigint | undefined {
  const number = digits.length < LIMIT_DIGITS ? digits : digits.replace(/^0+/, "");
  if (number.length > LIMIT_DIGITS || BigInt(number) > LIMIT) return undefined;
  return BigInt(number);
}

/** Digits beyond the limit are dropped. */
function fractionOf(digits: string, factor: bigint): bigint {
  const kept = digits.slice(0, LIMIT_DIGITS - 1);
  return (BigInt(kept) * factor) / 10n ** BigInt(kept.length);
}

/** Quotes a text like Go's package time: characters that are not printable ASCII become escaped UTF-8 bytes. */
function quote(text: string): string {
  const escaped = text
    .replace(/["\\]/g, "\\$&")
    .replace(/[^ -\x7f]+/g, (part) => Buffer.from(part).toString("hex").replace(/../g, "\\x$&"));
  return `"${escaped}"`;
}
