import type { Token } from "./lexer.ts";
import type { Source, SourceError } from "./source.ts";

/** The syntax errors of tokens that are no expression. */
export function syntaxErrors(_source: Source, tokens: readonly Token[]): SourceError[] {
  return [{ at: tokens[0]?.at ?? 0, message: "Syntax error" }];
}
