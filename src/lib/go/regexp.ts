import { RE2JS, RE2JSException } from "re2js";
import { BoundedMemo } from "../memoize.ts";

/** An expression of Go's package regexp. Matching takes time in proportion to the text. */
export interface GoRegexp {
  /** Whether any part of the text matches. */
  matches(text: string): boolean;
}

/** Few clusters have so many patterns; when there are more, all are compiled again. */
const compiled = new BoundedMemo<string, RE2JS>({ results: 2_000, textLength: 1_000 });

/** Compiles an expression in the syntax of RE2, which Go takes. Undefined: it is none. */
export function compileGoRegexp(pattern: string): GoRegexp | undefined {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    try {
      expression = RE2JS.compile(pattern);
    } catch (error) {
      if (error instanceof RE2JSException) return undefined;
      throw error;
    }
    compiled.set(pattern, expression);
  }
  const known = expression;
  return { matches: (text) => known.test(text) };
}
