import { TOKENS, type TokenKind } from "./lexer.ts";

/** What may come next within a rule, and whether the rule may end there. */
export interface Look {
  readonly kinds: ReadonlySet<TokenKind>;
  readonly canEnd: boolean;
}

/** What may come next. */
export const look = (kinds: Iterable<TokenKind>, canEnd = false): Look => ({ kinds: new Set(kinds), canEnd });

/** What starts a member: an operand with selections after it. */
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

/** What starts an expression. */
export const EXPRESSION: readonly TokenKind[] = [...MEMBER, "'!'"];

/** A set of tokens as messages print it. */
export function shown(kinds: ReadonlySet<TokenKind>): string {
  const names = TOKENS.filter((kind) => kinds.has(kind));
  return names.length === 1 ? (names[0] as string) : `{${names.join(", ")}}`;
}

/** All tokens at which one of the rules that called each other can go on. */
export function recoverable(follows: readonly Look[]): ReadonlySet<TokenKind> {
  const kinds = new Set<TokenKind>();
  for (const follow of follows) for (const kind of follow.kinds) kinds.add(kind);
  return kinds;
}
