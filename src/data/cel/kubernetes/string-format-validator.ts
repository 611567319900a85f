import { type Call, type Expr, partsOf } from "../parser/ast.ts";
import type { Validator } from "../standard/library.ts";
import { dynType, type TypeKind } from "../values/types.ts";
import { CLAUSE_ERRORS, type Clauses, eachClause, FormatError } from "./string-format.ts";

const typeIn = (expr: Expr) => expr.type ?? dynType;
const hasKind = (expr: Expr, kinds: ReadonlySet<TypeKind>) =>
  typeIn(expr).kind === "dyn" || kinds.has(typeIn(expr).kind);

const kinds = (names: string) => new Set(names.split(" ") as TypeKind[]);

const INTEGERS = kinds("int uint");
const DOUBLES = kinds("double string");
const BINARY = kinds("int uint bool");
const HEXADECIMAL = kinds("int uint string bytes");
const TEXTS = kinds("list map int uint double bool string timestamp bytes duration type null");

function require(expr: Expr, allowed: ReadonlySet<TypeKind>, refusal: string): string {
  if (!hasKind(expr, allowed)) throw new FormatError(refusal + typeIn(expr).name, expr.at);
  return "";
}

function requireText(expr: Expr): string {
  require(expr, TEXTS, CLAUSE_ERRORS.text);
  if (expr.kind === "list") for (const element of expr.elements) requireText(element);
  if (expr.kind === "map") {
    for (const { key, value } of expr.entries) {
      requireText(key);
      requireText(value);
    }
  }
  return "";
}

const checker: Clauses<Expr> = {
  text: requireText,
  decimal: (arg) => require(arg, INTEGERS, CLAUSE_ERRORS.decimal),
  fixed: (arg) => require(arg, DOUBLES, CLAUSE_ERRORS.fixed),
  scientific: (arg) => require(arg, DOUBLES, CLAUSE_ERRORS.scientific),
  binary: (arg) => require(arg, BINARY, CLAUSE_ERRORS.binary),
  hexadecimal: (arg) => require(arg, HEXADECIMAL, CLAUSE_ERRORS.hexadecimal),
  octal: (arg) => require(arg, INTEGERS, CLAUSE_ERRORS.octal),
};

/**
 * Rejects calls of format() whose literal arguments do not match their literal format: cel-go's stringFormatValidator.
 */
export const formatValidator: Validator = (expr, report) => {
  if (expr.kind === "call") checkCall(expr, report);
  for (const child of partsOf(expr)) formatValidator(child, report);
};

function checkCall(call: Call, report: (at: number, message: string) => void): void {
  const [args] = call.args;
  if (call.name !== "format" || call.args.length !== 1 || args?.kind !== "list") return;
  const format = call.target;
  if (format?.kind !== "literal" || typeof format.value !== "string") return;
  let used = 0;
  try {
    eachClause(format.value, checker, args.elements, () => used++);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    report(error.at ?? call.at, error.message);
    return;
  }
  if (args.elements.length > used) {
    const counts = `(expected ${used}, got ${args.elements.length})`;
    report(call.at, `too many arguments supplied to string.format ${counts}`);
  }
}
