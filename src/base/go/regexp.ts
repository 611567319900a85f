import { RE2JS, RE2JSException } from "re2js";
import { BoundedMemo } from "../util/memoize.ts";
import { type Meter, UNLIMITED } from "../util/meter.ts";

/** A regular expression of Go's package regexp. Matching takes linear time. */
export interface GoRegexp {
  /** Whether the expression matches any part of the text. Throws TooCostly. */
  matches(text: string): boolean;
}

/** Few clusters have so many patterns. When there are more, all are compiled again. */
const compiled = new BoundedMemo<string, RE2JS>({ results: 2_000, textLength: 1_000 });

/**
 * Compiles an expression in RE2 syntax, like Go. Undefined if it is malformed. Compiling and matching charge the meter. Throws
 * TooCostly.
 */
export function compileGoRegexp(pattern: string, meter: Meter = UNLIMITED): GoRegexp | undefined {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    try {
      meter.charge(compileUnits(pattern));
      expression = RE2JS.compile(pattern);
    } catch (error) {
      if (error instanceof RE2JSException) return undefined;
      throw error;
    }
    compiled.set(pattern, expression);
  }
  const known = expression;
  return {
    matches(text) {
      meter.charge(matchUnits(known, text));
      return known.test(text);
    },
  };
}

/** For each instruction and character. Measured: up to 2, while the states of the automaton are built. */
const UNITS_PER_STEP = 0.5;

/** What matching a text takes at most, in units of the meter. */
export function matchUnits(expression: RE2JS, text: string): number {
  return text.length * expression.programSize() * UNITS_PER_STEP;
}

const UNITS_PER_INSTRUCTION = 20;
/** Above so many instructions a pattern is compiled to find out whether it is too large. */
const SURELY_COMPILED = 100_000;

/**
 * Why Go's `regexp.Compile` rejects a pattern; "" if it does not. Counted repetitions are not written out, which would take a
 * thousand times as long.
 */
export function goRegexpError(pattern: string): string {
  const { instructions, repeat, plain } = scan(pattern);
  if (repeat <= MAX_REPEAT && instructions <= SURELY_COMPILED && syntaxError(plain) === "") return "";
  return syntaxError(pattern);
}

function syntaxError(pattern: string): string {
  try {
    RE2JS.compile(pattern);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What compiling a pattern takes, in units of the meter. */
export function compileUnits(pattern: string): number {
  return scan(pattern).instructions * UNITS_PER_INSTRUCTION;
}

/** Compat: `repeatIsValid` of Go's regexp/syntax. */
const MAX_REPEAT = 1000;
const COUNT = /\{(\d{1,4})(,?)(\d{0,4})\}/y;
const PROPERTY = /\\[pPx]\{[^{}]*\}/y;

/** A pattern without its counted repetitions, and what these make of it. */
interface Scanned {
  /** About how many instructions the pattern becomes. Counted repetitions are written out. */
  readonly instructions: number;
  /** How often a part is repeated at most, by all repetitions around it. */
  readonly repeat: number;
  /** The pattern with a plus for each counted repetition. */
  readonly plain: string;
}

interface Size {
  instructions: number;
  repeat: number;
}

function scan(pattern: string): Scanned {
  const outer: Size[] = [];
  let group: Size = { instructions: 0, repeat: 1 };
  let last: Size = { instructions: 0, repeat: 1 };
  let plain = "";
  for (let at = 0; at < pattern.length; ) {
    const counted = pattern[at] === "{" ? matchAt(COUNT, pattern, at) : undefined;
    const end = counted ? at + counted[0].length : endOfPart(pattern, at);
    plain += counted ? "+" : pattern.slice(at, end);
    if (counted) {
      const times = timesOf(counted);
      const more = (last.instructions + 1) * (Math.min(times, MAX_REPEAT) - 1);
      last = { instructions: last.instructions + more, repeat: last.repeat * times };
      group = { instructions: group.instructions + more, repeat: Math.max(group.repeat, last.repeat) };
    } else if (pattern[at] === "(") {
      outer.push(group);
      group = { instructions: 0, repeat: 1 };
    } else if (pattern[at] === ")") {
      last = { instructions: group.instructions + 2, repeat: group.repeat };
      group = joined(outer.pop(), last);
    } else {
      last = { instructions: 1, repeat: 1 };
      group.instructions += 1;
    }
    at = end;
  }
  return { ...outer.reduce(joined, group), plain };
}

function joined(one: Size | undefined, other: Size): Size {
  if (one === undefined) return other;
  return { instructions: one.instructions + other.instructions, repeat: Math.max(one.repeat, other.repeat) };
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}

function timesOf([, least, comma, most]: RegExpExecArray): number {
  const isRange = comma !== "" && most !== "";
  if (isRange && Number(most) < Number(least)) return Number.POSITIVE_INFINITY;
  return Math.max(1, Number(isRange ? most : least));
}

/** The end of the class, the escaped character, or the other character that begins here. */
function endOfPart(pattern: string, at: number): number {
  if (pattern[at] === "\\") return at + (matchAt(PROPERTY, pattern, at)?.[0].length ?? 2);
  if (pattern[at] !== "[") return at + 1;
  // A bracket right after the beginning is a member of the class.
  let end = at + (pattern[at + 1] === "^" ? 2 : 1) + 1;
  while (end < pattern.length && pattern[end] !== "]") {
    if (pattern.startsWith("[:", end)) end = Math.max(end, pattern.indexOf(":]", end) + 1);
    end += pattern[end] === "\\" ? 2 : 1;
  }
  return end + 1;
}
