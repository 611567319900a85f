import { TOKENS, type TokenKind } from "./lexer.ts";

/** The tokens that may come next within a rule, and whether the rule may end there. */
export interface Look {
  readonly kinds: ReadonlySet<TokenKind>;
  readonly canEnd: boolean;
}

/** Creates a lookahead set. */
export const look = (kinds: Iterable<TokenKind>, canEnd = false): Look => ({ kinds: new Set(kinds), canEnd });

/** The first tokens of a member: an operand followed by selections. */
export const MEMBER: readonly TokenKind[] = [
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
];

/** The first tokens of an expression. */
export const EXPRESSION: readonly TokenKind[] = [...MEMBER, "'!'"];

/** A set of tokens as printed in messages. */
export function shown(kinds: ReadonlySet<TokenKind>): string {
  const names = TOKENS.filter((kind) => kinds.has(kind));
  return names.length === 1 ? (names[0] as string) : `{${names.join(", ")}}`;
}

/** All tokens at which one of the active rules can continue. */
export function recoverable(follows: readonly Look[]): ReadonlySet<TokenKind> {
  const kinds = new Set<TokenKind>();
  for (const follow of follows) for (const kind of follow.kinds) kinds.add(kind);
  return kinds;
}
