// As named in messages of kube-apiserver.
const TIME_LAYOUT = "2006-01-02T15:04:05Z07:00";
const MICRO_TIME_LAYOUT = "2006-01-02T15:04:05.000000Z07:00";

/** The text is not a time. The message is that of kube-apiserver. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TimeError";
  }
}

const ZERO = 48;
const isDigitAt = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index) - ZERO;
  return code >= 0 && code <= 9;
};
const pairAt = (text: string, index: number): number =>
  (text.charCodeAt(index) - ZERO) * 10 + text.charCodeAt(index + 1) - ZERO;

/** A time in UTC with whole seconds, `2006-01-02T15:04:05Z`. Throws TimeError. */
export function canonicalTime(text: string): string {
  return isPlainTime(text) ? text : print(parse(text, TIME_LAYOUT));
}

/** A time in UTC with microseconds, `2006-01-02T15:04:05.000000Z`. Throws TimeError. */
export function canonicalMicroTime(text: string): string {
  const { seconds, nanoseconds } = parse(text, MICRO_TIME_LAYOUT);
  const micros = String(Math.trunc(nanoseconds / 1000)).padStart(6, "0");
  return `${print({ seconds, nanoseconds }).slice(0, -1)}.${micros}Z`;
}

/** Whether a text is already in canonical form. False if that needs a full parse. */
function isPlainTime(text: string): boolean {
  if (text.length !== 20 || text[4] !== "-" || text[7] !== "-" || text[10] !== "T") return false;
  if (text[13] !== ":" || text[16] !== ":" || text[19] !== "Z") return false;
  for (let i = 0; i < 19; i++) {
    if (i !== 4 && i !== 7 && i !== 10 && i !== 13 && i !== 16 && !isDigitAt(text, i)) return false;
  }
  const day = pairAt(text, 8);
  const month = pairAt(text, 5);
  if (month < 1 || month > 12 || day < 1 || day > 28) return false;
  return pairAt(text, 11) < 24 && pairAt(text, 14) < 60 && pairAt(text, 17) < 60;
}

interface Instant {
  /** Since 1970. */
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** Compat: `quote` of Go's package time escapes every byte outside of printable ASCII. */
function quoteTime(text: string): string {
  const shown = text.replace(/["\\]|[^ -\x7f]+/g, (found) =>
    found === '"' || found === "\\" ? `\\${found}` : Buffer.from(found).toString("hex").replace(/../g, "\\x$&"),
  );
  return `"${shown}"`;
}

/** Parses a time part by part, so that an error can name the part. */
class TimeReader {
  readonly text: string;
  readonly layout: string;
  rest: string;

  constructor(text: string, layout: string) {
    this.text = text;
    this.layout = layout;
    this.rest = text;
  }

  refuse(part: string): TimeError {
    const [text, layout, rest] = [this.text, this.layout, this.rest].map(quoteTime);
    return new TimeError(`parsing time ${text} as ${layout}: cannot parse ${rest} as ${quoteTime(part)}`);
  }

  outOfRange(what: string): TimeError {
    return new TimeError(`parsing time ${quoteTime(this.text)}: ${what} out of range`);
  }

  literal(part: string): void {
    if (!this.rest.startsWith(part)) throw this.refuse(part);
    this.rest = this.rest.slice(part.length);
  }

  year(): number {
    const digits = this.rest.slice(0, 4);
    if (!/^[0-9]{4}$/.test(digits)) throw this.refuse("2006");
    this.rest = this.rest.slice(4);
    return Number(digits);
  }

  /** A two-digit number, or also a one-digit number if `isFixed` is false. */
  number(part: string, isFixed: boolean): number {
    if (!isDigitAt(this.rest, 0) || (isFixed && !isDigitAt(this.rest, 1))) throw this.refuse(part);
    const length = isDigitAt(this.rest, 1) ? 2 : 1;
    const value = Number(this.rest.slice(0, length));
    this.rest = this.rest.slice(length);
    return value;
  }

  /** The digits after the decimal point: `count` of them, or all. */
  fraction(count?: number): number {
    const [, all = ""] = /^[.,]([0-9]+)/.exec(this.rest) ?? [];
    if (count !== undefined && all.length < count) throw this.refuse(`.${"0".repeat(count)}`);
    const digits = all.slice(0, count);
    if (digits !== "") this.rest = this.rest.slice(1 + digits.length);
    return Number(digits.slice(0, 9).padEnd(9, "0"));
  }

  /** The offset from UTC in seconds. */
  zone(): number {
    const part = "Z07:00";
    if (this.rest.startsWith("Z")) {
      this.rest = this.rest.slice(1);
      return 0;
    }
    const [whole = "", sign, hours, minutes] = /^([+-])([0-9]{2}):([0-9]{2})/.exec(this.rest) ?? [];
    if (whole === "") throw this.refuse(part);
    if (Number(minutes) > 60) throw this.outOfRange("time zone offset minute");
    if (Number(hours) > 24) throw this.outOfRange("time zone offset hour");
    this.rest = this.rest.slice(whole.length);
    return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
  }
}

function parse(text: string, layout: string): Instant {
  const reader = new TimeReader(text, layout);
  const year = reader.year();
  reader.literal("-");
  const month = reader.number("01", true);
  if (month < 1 || month > 12) throw reader.outOfRange("month");
  reader.literal("-");
  const day = reader.number("02", true);
  reader.literal("T");
  const hour = reader.number("15", false);
  if (hour > 23) throw reader.outOfRange("hour");
  reader.literal(":");
  const minute = reader.number("04", true);
  if (minute > 59) throw reader.outOfRange("minute");
  reader.literal(":");
  const second = reader.number("05", true);
  if (second > 59) throw reader.outOfRange("second");
  const nanoseconds = reader.fraction(layout === MICRO_TIME_LAYOUT ? 6 : undefined);
  const zone = reader.zone();
  if (reader.rest !== "") {
    throw new TimeError(`parsing time ${quoteTime(text)}: extra text: ${quoteTime(reader.rest)}`);
  }
  const date = new Date(0);
  // Date.UTC would interpret years below 100 as 19xx.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || day < 1) throw reader.outOfRange("day");
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - zone;
  return { seconds, nanoseconds };
}

function print({ seconds }: Instant): string {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0");
  return `${year < 0 ? "-" : ""}${digits}${date.toISOString().slice(-20, -5)}Z`;
}
