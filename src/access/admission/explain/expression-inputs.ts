import { storedExpressions } from "../../../data/cel/kubernetes/environment.ts";
import { type Expr, operators, partsOf } from "../../../data/cel/parser/ast.ts";
import { parse } from "../../../data/cel/parser/parser.ts";

/** Variables that are inputs of an expression. */
const ROOTS: ReadonlySet<string> = new Set([
  "object",
  "oldObject",
  "request",
  "params",
  "namespaceObject",
  "variables",
  "authorizer",
]);
const MAX_INPUTS = 20;

/**
 * The inputs of an expression: the longest chains of fields that start with a variable, such as `object.spec.replicas`,
 * and complete calls of `authorizer`. In source order.
 */
export function inputsOf(expression: string): string[] {
  const { expr, errors } = parse(expression, storedExpressions.macros);
  const found = new Set<string>();
  if (errors.length === 0) collect(expr, new Set(), found);
  return [...found].slice(0, MAX_INPUTS);
}

function collect(expr: Expr, locals: ReadonlySet<string>, found: Set<string>): void {
  const text = chainOf(expr, locals);
  if (text !== undefined) found.add(text);
  // The arguments of a chain that ends in a call or index may contain more chains.
  const parts = text === undefined ? partsOf(expr) : argumentsOf(expr);
  const inner = expr.kind === "comprehension" ? withLocals(locals, expr) : locals;
  for (const part of parts) {
    collect(part, expr.kind === "comprehension" && part !== expr.range ? inner : locals, found);
  }
}

function withLocals(locals: ReadonlySet<string>, { iterVar, iterVar2, accuVar }: Extract<Expr, { iterVar: string }>) {
  return new Set([...locals, iterVar, ...(iterVar2 === undefined ? [] : [iterVar2]), accuVar]);
}

function argumentsOf(expr: Expr): readonly Expr[] {
  if (expr.kind === "select") return argumentsOf(expr.operand);
  if (expr.kind !== "call") return [];
  if (expr.target !== undefined) return [...argumentsOf(expr.target), ...expr.args];
  const [operand, ...rest] = expr.args;
  return operand ? [...argumentsOf(operand), ...rest] : [];
}

/** The source of a chain. Undefined if the expression is not a chain. */
function chainOf(expr: Expr, locals: ReadonlySet<string>): string | undefined {
  switch (expr.kind) {
    case "ident":
      return ROOTS.has(expr.name) && !locals.has(expr.name) ? expr.name : undefined;
    case "select":
      return joined(chainOf(expr.operand, locals), `.${expr.field}`);
    case "call":
      return expr.target ? methodChain(expr, expr.target, locals) : operatorChain(expr, locals);
    default:
      return undefined;
  }
}

const joined = (chain: string | undefined, rest: string): string | undefined =>
  chain === undefined ? undefined : chain + rest;

function operatorChain({ name, args }: Extract<Expr, { kind: "call" }>, locals: ReadonlySet<string>) {
  const [operand, member] = args;
  if (!operand || !member) return undefined;
  const inside = argumentOf(member, locals);
  if (inside === undefined) return undefined;
  if (name === operators.index) return joined(chainOf(operand, locals), `[${inside}]`);
  if (name === operators.optIndex) return joined(chainOf(operand, locals), `[?${inside}]`);
  const isField = name === operators.optSelect && member.kind === "literal" && typeof member.value === "string";
  return isField ? joined(chainOf(operand, locals), `.?${member.value}`) : undefined;
}

/** Calls belong to a chain only for `authorizer`: the result of a function on a field is not an input. */
function methodChain(
  { name, args }: Extract<Expr, { kind: "call" }>,
  target: Expr,
  locals: ReadonlySet<string>,
): string | undefined {
  const chain = chainOf(target, locals);
  if (chain === undefined || !`${chain}.`.startsWith("authorizer.")) return undefined;
  const given = args.map((arg) => argumentOf(arg, locals));
  return given.includes(undefined) ? undefined : `${chain}.${name}(${given.join(", ")})`;
}

function argumentOf(expr: Expr, locals: ReadonlySet<string>): string | undefined {
  if (expr.kind !== "literal") return chainOf(expr, locals);
  const { value } = expr;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? JSON.stringify(value)
    : undefined;
}
