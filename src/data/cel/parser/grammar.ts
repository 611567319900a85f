import type { Value } from "../values/value.ts";
import { operators } from "./ast.ts";
import type { TokenKind } from "./lexer.ts";
import { parseBytes, parseFloating, parseInteger, parseString, parseUnsigned } from "./literals.ts";

/** Relational operators. */
export const RELATIONS: ReadonlyMap<TokenKind, string> = new Map<TokenKind, string>([
  ["'<'", operators.less],
  ["'<='", operators.lessEquals],
  ["'>='", operators.greaterEquals],
  ["'>'", operators.greater],
  ["'=='", operators.equals],
  ["'!='", operators.notEquals],
  ["'in'", operators.in],
]);
/** Additive operators. */
export const SUMS: ReadonlyMap<TokenKind, string> = new Map<TokenKind, string>([
  ["'+'", operators.add],
  ["'-'", operators.subtract],
]);
/** Multiplicative operators. */
export const PRODUCTS: ReadonlyMap<TokenKind, string> = new Map<TokenKind, string>([
  ["'*'", operators.multiply],
  ["'/'", operators.divide],
  ["'%'", operators.modulo],
]);

/** Reserved words, which cannot be names of variables or functions. */
export const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);

/** The value of a literal token without a sign. Undefined if it is not a literal. */
export function literalOf(kind: TokenKind, text: string): Value | undefined {
  switch (kind) {
    case "NUM_UINT":
      return parseUnsigned(text);
    case "STRING":
      return parseString(text);
    case "BYTES":
      return parseBytes(text);
    case "'true'":
      return true;
    case "'false'":
      return false;
    case "'null'":
      return null;
    default:
      return signed(kind, text, false);
  }
}

/** The value of a number with its sign. Undefined if the token is not a signed number. */
export function signed(kind: TokenKind, text: string, negative = true): Value | undefined {
  if (kind === "NUM_INT") return parseInteger(text, negative);
  return kind === "NUM_FLOAT" ? parseFloating(text, negative) : undefined;
}
