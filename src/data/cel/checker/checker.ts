import type { Environment } from "../environment.ts";
import {
  type Call,
  type Comprehension,
  type Expr,
  type Ident,
  type ListExpr,
  type MapExpr,
  operators,
  type Select,
  type StructExpr,
} from "../parser/ast.ts";
import type { SourceError } from "../parser/source.ts";
import type { FunctionDeclaration, Overload } from "../standard/library.ts";
import {
  boolType,
  dynType,
  errorType,
  freshType,
  intType,
  isDyn,
  listType,
  mapType,
  optionalType,
  type Type,
  unwrapOptional,
} from "../values/types.ts";
import { typeOfValue } from "../values/value.ts";
import { Scopes } from "./scope.ts";
import { isWild, mayFit, mostGeneral, Substitution } from "./substitution.ts";

/**
 * Type-checks an expression. Sets the type of every node, and resolves names and overloads in place. Returns the
 * errors.
 */
export function check(expr: Expr, env: Environment): SourceError[] {
  const checker = new Checker(env);
  checker.check(expr);
  checker.finish();
  return checker.errors;
}

const MAX_WEIGHT = 10_000;

/** The type that the checker assigned. The error type if the node has not been checked. */
const typeIn = (expr: Expr): Type => expr.type ?? errorType;

class Checker {
  readonly errors: SourceError[] = [];
  private readonly env: Environment;
  private readonly scopes: Scopes;
  private readonly substitution = new Substitution();
  private parameters = 0;
  private readonly seen: Expr[] = [];

  constructor(env: Environment) {
    this.env = env;
    this.scopes = new Scopes(env);
  }

  check(expr: Expr): Type {
    const type = this.typeFor(expr);
    expr.type = type.weight > MAX_WEIGHT ? this.tooLarge(expr.at) : type;
    this.seen.push(expr);
    return expr.type;
  }

  /** Applies type parameters that were inferred later to the types assigned before. */
  finish(): void {
    if (this.errors.length > 0) return;
    for (const expr of this.seen) expr.type = this.substitution.apply(typeIn(expr), true);
  }

  private typeFor(expr: Expr): Type {
    switch (expr.kind) {
      case "literal":
        return typeOfValue(expr.value);
      case "ident":
        return this.checkIdent(expr);
      case "select":
        return this.checkSelect(expr);
      case "call":
        return this.checkCall(expr);
      case "list":
        return this.checkList(expr);
      case "map":
        return this.checkMap(expr);
      case "struct":
        return this.checkStruct(expr);
      case "comprehension":
        return this.checkComprehension(expr);
      default:
        return errorType;
    }
  }

  /** Nested maps can have a type of exponential length, which would have to be compared and printed. */
  private tooLarge(at: number): Type {
    this.report(at, "type is too large");
    return errorType;
  }

  private report(at: number, message: string): void {
    this.errors.push({ at, message });
  }

  private undeclared(at: number, name: string): Type {
    this.report(at, `undeclared reference to '${name}' (in container '${this.env.container}')`);
    return errorType;
  }

  private mismatch(at: number, expected: Type, actual: Type): void {
    this.report(at, `expected type '${expected}' but found '${actual}'`);
  }

  private assignable(a: Type, b: Type): boolean {
    return this.substitution.fitsOne(a, b);
  }

  private known(type: Type): Type {
    return this.substitution.apply(type, false);
  }

  private freshParameter(): Type {
    return freshType(this.parameters++);
  }

  private checkIdent(expr: Ident): Type {
    const found = this.scopes.find([expr.name]);
    if (found === undefined) return this.undeclared(expr.at, expr.name);
    expr.name = found.isHidden ? `.${found.name}` : found.name;
    if (found.constant !== undefined) expr.constant = found.constant;
    return found.type;
  }

  private checkSelect(expr: Select): Type {
    const parts = expr.test ? undefined : namesOf(expr);
    const found = parts && this.scopes.find(parts);
    if (found !== undefined) {
      const name = found.isHidden ? `.${found.name}` : found.name;
      expr.resolved = { kind: "ident", at: expr.at, name, type: found.type };
      if (found.constant !== undefined) expr.resolved.constant = found.constant;
      return found.type;
    }
    const type = this.checkField(expr, expr.operand, expr.field, false);
    return expr.test ? boolType : this.known(type);
  }

  private checkField(expr: Expr, operand: Expr, field: string, optional: boolean): Type {
    const operandType = this.known(this.check(operand));
    const inner = unwrapOptional(operandType);
    const result = this.fieldOf(inner ?? operandType, expr, field);
    return inner !== undefined || optional ? optionalType(result) : result;
  }

  /** Types of libraries, such as Quantity, are unknown to the provider. */
  private isDeclared({ name }: Type): boolean {
    const { types } = this.env;
    return types !== undefined && (types.findType === undefined || types.findType(name) !== undefined);
  }

  private fieldOf(target: Type, expr: Expr, field: string): Type {
    switch (target.kind) {
      case "map":
        return target.params[1] as Type;
      case "struct": {
        const type = this.env.types?.findField(target.name, field);
        if (type === undefined)
          this.report(
            expr.at,
            this.isDeclared(target) ? `undefined field '${field}'` : `unexpected failed resolution of '${target.name}'`,
          );
        return type ?? errorType;
      }
      case "param":
        this.assignable(dynType, target);
        return dynType;
      default:
        if (!isWild(target)) this.report(expr.at, `type '${target}' does not support field selection`);
        return dynType;
    }
  }

  private checkCall(expr: Call): Type {
    if (expr.name === operators.optSelect) {
      const [operand, field] = expr.args as [Expr, Expr];
      const name = field.kind === "literal" ? String(field.value) : "";
      expr.overloads = ["select_optional_field"];
      return this.known(this.checkField(expr, operand, name, true));
    }
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) {
      const declared = this.findFunction(expr.name);
      if (declared === undefined) return this.undeclared(expr.at, expr.name);
      expr.name = declared.name;
      return this.resolve(expr, declared);
    }
    const qualified = namesOf(expr.target);
    const namespaced = qualified && this.findFunction(`${qualified.join(".")}.${expr.name}`);
    if (namespaced !== undefined) {
      expr.target = undefined;
      expr.name = namespaced.name;
      return this.resolve(expr, namespaced);
    }
    this.check(expr.target);
    const declared = this.findFunction(expr.name);
    return declared === undefined ? this.undeclared(expr.at, expr.name) : this.resolve(expr, declared);
  }

  private findFunction(name: string): FunctionDeclaration | undefined {
    for (const candidate of this.env.candidates(name)) {
      const found = this.env.findFunction(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private resolve(expr: Call, declared: FunctionDeclaration): Type {
    if (declared.name === operators.and || declared.name === operators.or) return this.resolveLogical(expr, declared);
    const exprs = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const types = exprs.map(typeIn);
    const ids: string[] = [];
    let result: Type | undefined;
    for (const overload of declared.overloads) {
      if ((overload.isMember ?? false) !== (expr.target !== undefined)) continue;
      if (!mayFit(types, overload.args)) {
        // Compat: `resolveOverload` of cel-go numbers the parameters of every overload, and messages contain the
        // numbers.
        this.parameters += overload.parameters ?? 0;
        continue;
      }
      const { result: resultType, args: argTypes } = this.instantiate(overload);
      if (!this.substitution.fits(types, argTypes)) continue;
      ids.push(overload.id);
      const found = this.known(resultType);
      if (result === undefined) result = found;
      else if (!isDyn(result) && !found.is(result)) result = dynType;
    }
    if (result === undefined) {
      const shown = types.map((type) => this.substitution.apply(type, true));
      this.report(expr.at, `found no matching overload for '${declared.name}' applied to '${signature(expr, shown)}'`);
      return errorType;
    }
    expr.overloads = ids;
    return result;
  }

  /** Reports which operand of && or || is not a bool. */
  private resolveLogical(expr: Call, declared: FunctionDeclaration): Type {
    let fits = true;
    for (const arg of expr.args) {
      if (this.assignable(typeIn(arg), boolType)) continue;
      this.mismatch(arg.at, boolType, typeIn(arg));
      fits = false;
    }
    if (!fits) return errorType;
    expr.overloads = declared.overloads.map(({ id }) => id);
    return boolType;
  }

  /** The types of an overload with fresh type parameters. */
  private instantiate({ result, args, parameters = 0 }: Overload): Pick<Overload, "result" | "args"> {
    if (parameters === 0) return { result, args };
    const fresh = new Substitution();
    const visit = (type: Type): void => {
      if (type.kind === "param" && fresh.find(type) === undefined) fresh.set(type, this.freshParameter());
      if (type.isGeneric) type.params.forEach(visit);
    };
    visit(result);
    args.forEach(visit);
    return { result: fresh.apply(result, false), args: args.map((type) => fresh.apply(type, false)) };
  }

  private checkList(expr: ListExpr): Type {
    let elements: Type | undefined;
    expr.elements.forEach((element, i) => {
      const type = this.unwrapped(element, this.check(element), expr.optional.has(i));
      elements = this.join(elements, type);
    });
    return listType(elements ?? this.freshParameter());
  }

  private checkMap(expr: MapExpr): Type {
    let keys: Type | undefined;
    let values: Type | undefined;
    for (const entry of expr.entries) {
      keys = this.join(keys, this.check(entry.key));
      const type = this.unwrapped(entry.value, this.check(entry.value), entry.optional);
      values = this.join(values, type);
    }
    return mapType(keys ?? this.freshParameter(), values ?? this.freshParameter());
  }

  /** The type inside an optional that is marked with a question mark. */
  private unwrapped(expr: Expr, type: Type, isOptional: boolean): Type {
    if (!isOptional) return type;
    const inner = unwrapOptional(type);
    if (inner === undefined && !isDyn(type)) this.mismatch(expr.at, optionalType(type), type);
    return inner ?? type;
  }

  private join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    // Whether mixed types are allowed is decided by a validator of the environment.
    return this.assignable(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  private checkStruct(expr: StructExpr): Type {
    const found = this.scopes.findType(expr.typeName);
    if (found === undefined) return this.undeclared(expr.at, expr.typeName);
    expr.typeName = found.name;
    let type = errorType;
    if (found.type.kind !== "type") this.report(expr.at, `'${found.type.name}' is not a type`);
    else {
      const inner = found.type.params[0] ?? errorType;
      if (inner.kind === "struct") type = inner;
      else this.report(expr.at, `'${inner.name}' is not a message type`);
    }
    for (const field of expr.fields) {
      const value = this.unwrapped(field.value, this.check(field.value), field.optional);
      if (type.kind !== "struct") continue;
      const declared = this.env.types?.findField(type.name, field.name);
      if (declared === undefined) this.report(field.at, `undefined field '${field.name}'`);
      else if (!this.assignable(declared, value)) {
        const message = `expected type of field '${field.name}' is '${declared}' but provided type is '${value}'`;
        this.report(field.at, message);
      }
    }
    return type;
  }

  private checkComprehension(expr: Comprehension): Type {
    const rangeType = this.known(this.check(expr.range));
    const accuType = this.check(expr.accuInit);
    const [first, second] = this.iterated(expr, rangeType);
    const variables = [{ name: expr.iterVar, type: first }];
    if (expr.iterVar2 !== undefined) variables.push({ name: expr.iterVar2, type: second });
    return this.scopes.within([{ name: expr.accuVar, type: accuType }], () => {
      this.scopes.within(variables, () => {
        this.check(expr.condition);
        this.assertType(expr.condition, boolType);
        this.check(expr.step);
        this.assertType(expr.step, accuType);
      });
      return this.known(this.check(expr.result));
    });
  }

  /** The types of the variables of a comprehension over a range. */
  private iterated(expr: Comprehension, range: Type): readonly [Type, Type] {
    const isTwo = expr.iterVar2 !== undefined;
    switch (range.kind) {
      case "list": {
        const element = range.params[0] as Type;
        return [isTwo ? intType : element, element];
      }
      case "map":
        return [range.params[0] as Type, range.params[1] as Type];
      case "dyn":
      case "error":
      case "param":
        this.assignable(dynType, range);
        return [dynType, dynType];
      default: {
        const message = `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.report(expr.range.at, message);
        return [errorType, errorType];
      }
    }
  }

  private assertType(expr: Expr, type: Type): void {
    if (!this.assignable(type, typeIn(expr))) this.mismatch(expr.at, type, typeIn(expr));
  }
}

function signature(expr: Call, types: readonly Type[]): string {
  const [target, ...args] = types;
  return expr.target === undefined ? `(${types.join(", ")})` : `${target}.(${args.join(", ")})`;
}

/** The names of a, a.b, a.b.c in order. Undefined for any other expression. */
function namesOf(expr: Expr): string[] | undefined {
  if (expr.kind === "ident") return [expr.name];
  if (expr.kind !== "select" || expr.test) return undefined;
  const parts: string[] = [];
  let inner: Expr = expr;
  while (inner.kind === "select" && !inner.test) {
    parts.push(inner.field);
    inner = inner.operand;
  }
  return inner.kind === "ident" ? [...parts, inner.name].reverse() : undefined;
}
