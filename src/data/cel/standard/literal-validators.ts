import { type Expr, partsOf } from "../parser/ast.ts";
import { parseDuration, parseTimestamp, timestampOfSeconds } from "../values/time.ts";
import { type Type, unwrapOptional } from "../values/types.ts";
import { CelError, isInt, type Value } from "../values/value.ts";
import type { Library, Validator } from "./library.ts";
import { compilePattern } from "./regular-expressions.ts";

type Report = Parameters<Validator>[1];

const isTimestamp = (value: Value) => {
  if (typeof value === "string")
    return !(parseTimestamp(value) === undefined || parseTimestamp(value) instanceof CelError);
  return !isInt(value) || !(timestampOfSeconds(value) instanceof CelError);
};

/** Whether a literal is valid as first argument of these functions. */
const checks = new Map<string, (value: Value) => boolean>([
  ["duration", (value) => typeof value !== "string" || parseDuration(value) !== undefined],
  ["timestamp", isTimestamp],
  // Compat: ValidateRegexLiterals checks the first argument, which is the text in matches(text, pattern).
  ["matches", (value) => typeof value !== "string" || !(compilePattern(value) instanceof CelError)],
]);

function validateLiterals(expr: Expr, report: Report): void {
  visit(expr, (part) => {
    const check = part.kind === "call" ? checks.get(part.name) : undefined;
    const arg = part.kind === "call" ? part.args[0] : undefined;
    if (check === undefined || arg?.kind !== "literal" || part.kind !== "call") return;
    if (!check(arg.value)) report(arg.at, `invalid ${part.name} argument`);
  });
}

/** Compat: the arguments of format() are exempt (HomogeneousAggregateLiteralExemptFunctions). */
const isExempt = (part: Expr) => part.kind === "call" && part.name === "format";

function validateAggregates(expr: Expr, report: Report): void {
  visit(
    expr,
    (part) => {
      if (part.kind === "list") {
        const types = part.elements.map((element, i) => typeIn(element, part.optional.has(i)));
        const at = types.findIndex((type) => !type?.is(types[0] as Type));
        if (at >= 0) mismatch(part.elements[at] as Expr, types[0], types[at], report);
      } else if (part.kind === "map") {
        const [first] = part.entries;
        if (first === undefined) return;
        const [keys, values] = [typeIn(first.key, false), typeIn(first.value, first.optional)];
        for (const { key, value, optional } of part.entries) {
          if (!typeIn(key, false)?.is(keys as Type)) mismatch(key, keys, typeIn(key, false), report);
          const type = typeIn(value, optional);
          if (!type?.is(values as Type)) mismatch(value, values, type, report);
        }
      }
    },
    isExempt,
  );
}

const typeIn = (expr: Expr, isOptional: boolean): Type | undefined =>
  (isOptional && expr.type && unwrapOptional(expr.type)) || expr.type;

function mismatch(expr: Expr, expected: Type | undefined, actual: Type | undefined, report: Report): void {
  report(expr.at, `expected type '${expected}' but found '${actual}'`);
}

function visit(expr: Expr, look: (part: Expr) => void, isLeftOut: (part: Expr) => boolean = () => false): void {
  look(expr);
  if (isLeftOut(expr)) return;
  for (const part of partsOf(expr)) visit(part, look, isLeftOut);
}

/** Rejects literals that cannot be converted, and lists and maps of mixed types: cel-go's ASTValidators. */
export const literalValidators: Library = {
  name: "literal validators",
  validators: [validateLiterals, validateAggregates],
};
