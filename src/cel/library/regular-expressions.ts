import { RE2JS } from "re2js";
import { CelError, NO_SUCH_OVERLOAD, type Value } from "../values/value.ts";

const MAX_PATTERNS = 256;

/** Patterns that were compiled lately, the least recently used first. */
const compiled = new Map<string, RE2JS | CelError>();

/** The compiled pattern of RE2's syntax, or the error that Go's regexp.Compile has for it. */
export function compilePattern(pattern: string): RE2JS | CelError {
  const known = compiled.get(pattern);
  if (known !== undefined) {
    compiled.delete(pattern);
    compiled.set(pattern, known);
    return known;
  }
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

/** Whether the pattern is found anywhere in the text. */
export function matches(text: string, pattern: string): boolean | CelError {
  const found = compilePattern(pattern);
  return found instanceof CelError ? found : found.test(text);
}

/** The same for a pattern that is known before: it is compiled once. */
export function matcherOf(pattern: string): (text: Value) => Value {
  const found = compilePattern(pattern);
  if (found instanceof CelError) return () => found;
  return (text) => (typeof text === "string" ? found.test(text) : NO_SUCH_OVERLOAD);
}
