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
const LIMIT = 2n ** 63n;
const LIMIT_DIGITS = LIMIT.toString().length;
const PART = /([0-9]*)(?:\.([0-9]*))?([^.0-9]*)/gy;

/** Why a text is no duration, in the words of Go's `time.ParseDuration`; undefined when it is one. */
export function durationProblem(text: string): string | undefined {
  const read = readDuration(text);
  return typeof read === "string" ? read : undefined;
}

/** A duration in milliseconds. Throws an Error with the words of Go's `time.ParseDuration` when it is none. */
export function parseDuration(text: string): number {
  const read = readDuration(text);
  if (typeof read === "string") throw new Error(read);
  return Number(read) / 1e6;
}

/** A duration of whole milliseconds as Go's `Duration.String` prints it, such as 1m0s. */
export function printDuration(ms: number): string {
  if (ms === 0) return "0s";
  const all = Math.abs(ms);
  const sign = ms < 0 ? "-" : "";
  if (all < 1000) return `${sign}${all}ms`;
  const [hours, minutes] = [Math.floor(all / 3_600_000), Math.floor(all / 60_000) % 60];
  const seconds = (all % 60_000) / 1000;
  const shownMinutes = hours > 0 || minutes > 0 ? `${minutes}m` : "";
  return `${sign}${hours > 0 ? `${hours}h` : ""}${shownMinutes}${seconds}s`;
}

/** Nanoseconds, or why there are none. */
function readDuration(text: string): bigint | string {
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

/** The number, or undefined when it is too large for any duration. */
function boundedNumber(digits: string): bigint | undefined {
  const number = digits.length < LIMIT_DIGITS ? digits : digits.replace(/^0+/, "");
  if (number.length > LIMIT_DIGITS || BigInt(number) > LIMIT) return undefined;
  return BigInt(number);
}

/** Digits that no longer fit are left out. */
function fractionOf(digits: string, factor: bigint): bigint {
  const kept = digits.slice(0, LIMIT_DIGITS - 1);
  return (BigInt(kept) * factor) / 10n ** BigInt(kept.length);
}

/** A text as package time quotes it: what is not printable ASCII as the bytes of its UTF-8. */
function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, "\\$&").replace(/[^ -\x7f]/gu, (character) => {
    return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  });
  return `"${escaped}"`;
}
