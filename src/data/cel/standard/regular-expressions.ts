import { RE2JS } from "re2js";
import { compileUnits, matchUnits } from "../../../base/go/regexp.ts";
import { spend } from "../cost/work.ts";
import { CelError, NO_SUCH_OVERLOAD, type Value } from "../values/value.ts";

const MAX_PATTERNS = 256;

/** Cache of compiled patterns, least recently used first. */
const compiled = new Map<string, RE2JS | CelError>();

/**
 * Compiles a pattern in RE2 syntax. Returns the error of Go's regexp.Compile if it is malformed. Throws TooCostly: a pattern
 * may come from the data.
 */
export function compilePattern(pattern: string): RE2JS | CelError {
  const known = compiled.get(pattern);
  if (known !== undefined) {
    compiled.delete(pattern);
    compiled.set(pattern, known);
    return known;
  }
  spend(compileUnits(pattern));
  const result = compile(pattern);
  compiled.set(pattern, result);
  if (compiled.size > MAX_PATTERNS) compiled.delete(compiled.keys().next().value as string);
  return result;
}

function compile(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return new CelError(text.startsWith("error parsing regexp") ? text : `error parsing regexp: ${text}`);
  }
}

/** Whether the pattern matches any part of the text. Throws TooCostly. */
export function matches(text: string, pattern: string): boolean | CelError {
  const found = compilePattern(pattern);
  return found instanceof CelError ? found : test(found, text);
}

/** The cost of cel-go counts the characters of the pattern, and a counted repetition has few. */
function test(expression: RE2JS, text: string): boolean {
  spend(matchUnits(expression, text));
  return expression.test(text);
}

/** Like `matches`, for a constant pattern, which is compiled once. */
export function matcherOf(pattern: string): (text: Value) => Value {
  const found = compilePattern(pattern);
  if (found instanceof CelError) return () => found;
  return (text) => (typeof text === "string" ? test(found, text) : NO_SUCH_OVERLOAD);
}
