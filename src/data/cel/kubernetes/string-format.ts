import { printGoFloat } from "../../../base/go/float.ts";
import { quote } from "../../../base/go/quote.ts";
import { spend, spendOnText } from "../cost/work.ts";
import { formatValue } from "../values/format.ts";
import { formatDuration, formatTimestamp } from "../values/time.ts";
import {
  Bytes,
  CelError,
  Double,
  Duration,
  isInt,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeOfValue,
  Uint,
  type Value,
} from "../values/value.ts";

/** Handlers of clauses such as %d, for a value or an expression. They throw FormatError. */
export interface Clauses<T> {
  text(arg: T): string;
  decimal(arg: T): string;
  fixed(arg: T, precision: number): string;
  scientific(arg: T, precision: number): string;
  binary(arg: T): string;
  hexadecimal(arg: T, isUpper: boolean): string;
  octal(arg: T): string;
}

/** An error in a format or an argument. `at` is the position of the argument's expression, if known. */
export class FormatError extends Error {
  readonly at: number | undefined;
  constructor(message: string, at?: number) {
    super(message);
    this.at = at;
  }
}

/** The errors of arguments that a clause does not accept. */
export const CLAUSE_ERRORS = {
  text: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ",
  decimal: "decimal clause can only be used on integers, was given ",
  fixed: "fixed-point clause can only be used on doubles, was given ",
  scientific: "scientific clause can only be used on doubles, was given ",
  binary: "only integers and bools can be formatted as binary, was given ",
  hexadecimal: "only integers, byte buffers, and strings can be formatted as hex, was given ",
  octal: "octal clause can only be used on integers, was given ",
} as const;

const DEFAULT_PRECISION = 6;
/** No double has more non-zero digits. */
const MAX_PRECISION = 1100;

/** Processes a format, with one argument for each clause. */
export function eachClause<T>(format: string, clauses: Clauses<T>, args: readonly T[], onArg: () => void): string {
  let result = "";
  let used = 0;
  for (let i = 0; i < format.length; ) {
    const char = format[i] as string;
    if (char !== "%") {
      result += char;
      i++;
    } else if (format[i + 1] === "%") {
      result += "%";
      i += 2;
    } else {
      onArg();
      if (i + 1 >= format.length && used < args.length) throw new FormatError("unexpected end of string");
      if (used >= args.length) throw new FormatError(`index ${used} out of range`);
      const [text, length] = clause(format, i + 1, clauses, args[used] as T);
      result += text;
      i += 1 + length;
      used++;
    }
  }
  return result;
}

function clause<T>(format: string, start: number, clauses: Clauses<T>, arg: T): [text: string, length: number] {
  let at = start;
  let precision = DEFAULT_PRECISION;
  if (format[at] === ".") {
    const [, digits = ""] = /^\.([0-9]*)/.exec(format.slice(at)) ?? [];
    at += 1 + digits.length;
    if (at >= format.length)
      throw badClause("error while parsing precision: could not find end of precision specifier");
    if (digits === "" || digits.length > 18) {
      const reason = digits === "" ? "invalid syntax" : "value out of range";
      const message = `strconv.Atoi: parsing ${quote(digits)}: ${reason}`;
      throw badClause(`error while parsing precision: error while converting precision to integer: ${message}`);
    }
    precision = Number(digits);
  }
  const run = clauseOf(format[at] as string, clauses, precision);
  try {
    return [run(arg), at + 1 - start];
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(`error during formatting: ${error.message}`, error.at);
  }
}

const badClause = (message: string) => new FormatError(`could not parse formatting clause: ${message}`);

function clauseOf<T>(letter: string, clauses: Clauses<T>, precision: number): (arg: T) => string {
  switch (letter) {
    case "s":
      return (arg) => clauses.text(arg);
    case "d":
      return (arg) => clauses.decimal(arg);
    case "f":
      return (arg) => clauses.fixed(arg, precision);
    case "e":
      return (arg) => clauses.scientific(arg, precision);
    case "b":
      return (arg) => clauses.binary(arg);
    case "x":
    case "X":
      return (arg) => clauses.hexadecimal(arg, letter === "X");
    case "o":
      return (arg) => clauses.octal(arg);
    default: {
      // Compat: `parseFormattingClause` treats the first byte as a character.
      const [byte = 0] = Buffer.from(letter);
      throw badClause(`unrecognized formatting clause "${String.fromCharCode(byte)}"`);
    }
  }
}

const typeName = (value: Value) => typeOfValue(value).name;

function inRadix(value: Value, radix: number, refusal: string): string {
  if (isInt(value)) return value.toString(radix);
  if (value instanceof Uint) return value.value.toString(radix);
  throw new FormatError(refusal + typeName(value));
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

function doubleOf(value: Value, refusal: string): number {
  if (value instanceof Double) return value.value;
  const special = typeof value === "string" ? SPECIAL.get(value) : undefined;
  if (special !== undefined) return special;
  throw new FormatError(refusal + typeName(value));
}

function unusual(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? undefined : value > 0 ? "∞" : "-∞";
}

/** Rounds to a number of fractional digits. Ties are rounded to even, like Go. */
function exactFixed(value: number, precision: number): string {
  if (Object.is(value, -0)) return `-${exactFixed(0, precision)}`;
  const zeros = "0".repeat(Math.max(0, Math.min(precision, MAX_PRECISION) - 100));
  if (Math.abs(value) >= 1e21)
    return `${BigInt(value)}${precision > 0 ? `.${"0".repeat(Math.min(precision, 100))}` : ""}${zeros}`;
  if (precision >= 100) return value.toFixed(100) + zeros;
  const all = value.toFixed(100);
  const end = all.length - 100 + precision;
  const kept = precision === 0 ? all.slice(0, end - 1) : all.slice(0, end);
  return all.slice(end) === "5".padEnd(100 - precision, "0") && "02468".includes(kept.slice(-1))
    ? kept
    : value.toFixed(precision);
}

/** Compat: `stringFormatter.Fixed` prints the thousands separators of en-US. */
function grouped(text: string): string {
  const sign = text.startsWith("-") ? "-" : "";
  const point = text.indexOf(".");
  const whole = text.slice(sign.length, point < 0 ? text.length : point);
  const fraction = point < 0 ? "" : text.slice(point);
  let result = "";
  for (let end = whole.length; end > 0; end -= 3) {
    const group = whole.slice(Math.max(0, end - 3), end);
    result = result === "" ? group : `${group},${result}`;
  }
  return sign + result + fraction;
}

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Compat: `stringFormatter.Scientific` prints like en-US and treats the precision as a width, so the precision is
 * always six.
 */
function scientific(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential(DEFAULT_PRECISION).split("e");
  const power = Number(exponent);
  const raised = Math.abs(power).toString().padStart(2, "0");
  const superscript = [...raised].map((digit) => SUPERSCRIPT[Number(digit)]).join("");
  return `${digits}×10${power < 0 ? "⁻" : ""}${superscript}`;
}

const printer: Clauses<Value> = {
  text: printText,
  decimal: (value) => inRadix(value, 10, CLAUSE_ERRORS.decimal),
  fixed(value, precision) {
    const double = doubleOf(value, CLAUSE_ERRORS.fixed);
    // Compat: `stringFormatter.Fixed` prints no sign of zero.
    return unusual(double) ?? grouped(exactFixed(double === 0 ? 0 : double, precision));
  },
  scientific(value, precision) {
    const double = doubleOf(value, CLAUSE_ERRORS.scientific);
    return (unusual(double) ?? scientific(double)).padStart(Math.min(precision, MAX_PRECISION));
  },
  binary: (value) => (typeof value === "boolean" ? (value ? "1" : "0") : inRadix(value, 2, CLAUSE_ERRORS.binary)),
  hexadecimal(value, isUpper) {
    const text = hexadecimal(value);
    return isUpper ? text.toUpperCase() : text;
  },
  octal: (value) => inRadix(value, 8, CLAUSE_ERRORS.octal),
};

function hexadecimal(value: Value): string {
  if (typeof value === "string") spendOnText(value, "whole");
  if (value instanceof Bytes) spend(value.data.length / 100);
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (value instanceof Bytes) return Buffer.from(value.data).toString("hex");
  return inRadix(value, 16, CLAUSE_ERRORS.hexadecimal);
}

function printText(value: Value): string {
  if (value === null) return "null";
  if (value instanceof ListValue) return printList(value);
  if (value instanceof MapValue) return printMap(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof Double) return printGoFloat(value.value);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.of.name;
  if (value instanceof Bytes) return printBytes(value);
  throw new FormatError(CLAUSE_ERRORS.text + typeName(value));
}

function printBytes({ data }: Bytes): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new FormatError(`could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string`);
  }
}

function quoted(text: string): string {
  spendOnText(text, "each");
  return quote(text);
}

/** Prints a value within a list or map. */
function printInner(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof Bytes) return `b${quoted(printBytes(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quote(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${quote(formatDuration(value))})`;
  if (value instanceof Double) {
    if (Number.isNaN(value.value)) return '"NaN"';
    if (!Number.isFinite(value.value)) return value.value > 0 ? '"+Inf"' : '"-Inf"';
    return exactFixed(value.value, DEFAULT_PRECISION);
  }
  if (value === null || typeof value !== "object" || value instanceof Uint || value instanceof TypeValue) {
    return printText(value);
  }
  if (value instanceof ListValue || value instanceof MapValue) return printText(value);
  throw new FormatError(`no formatting function for ${typeName(value)}`);
}

function printList(list: ListValue): string {
  const parts: string[] = [];
  spend(5 * list.size);
  for (let i = 0; i < list.size; i++) parts.push(printInner(list.at(i)));
  return `[${parts.join(", ")}]`;
}

function printMap(map: MapValue): string {
  const entries: [key: string, value: string][] = [];
  spend(20 * map.size);
  for (const key of map.keys()) {
    if (typeof key === "object" && !(key instanceof Uint)) {
      throw new FormatError(`no formatting function for map key of type ${typeName(key)}`);
    }
    const name = printInner(key);
    const value = map.find(key);
    if (value === undefined) throw new FormatError(`could not find key: ${quote(formatValue(key))}`);
    entries.push([name, printInner(value)]);
  }
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

/** "…".format([…]). */
export function formatText(format: string, args: ListValue): Value {
  const values: Value[] = [];
  spendOnText(format, "each");
  spend(args.size);
  for (let i = 0; i < args.size; i++) {
    const value = args.at(i);
    if (value instanceof CelError) return value;
    values.push(value);
  }
  try {
    return eachClause(format, printer, values, () => {});
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return new CelError(error.message);
  }
}
