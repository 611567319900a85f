import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";
import { getMember } from "../../../base/util/members.ts";
import { storedExpressions } from "../../../data/cel/kubernetes/environment.ts";
import { type Expr, operators, partsOf } from "../../../data/cel/parser/ast.ts";
import { CompileError, compile, type Program, program } from "../../../data/cel/program.ts";
import { JsonList } from "../../../data/cel/values/json.ts";
import { anyType, listType, mapType, stringType, structType, type Type } from "../../../data/cel/values/types.ts";
import { CelError, Double, MapValue, noSuchOverload, type Value } from "../../../data/cel/values/value.ts";
import { unescapeName } from "../../../resources/validation-rules/escaping.ts";

/** A compiled CEL expression. */
export interface CompiledExpression {
  /** Throws an Error if the evaluation fails. */
  evaluate(variables: JsonObject): Value;
  /** Whether the expression reads a member of its variable by name. Upstream: `hasSelectExp`. */
  reads(member: string): boolean;
}

/** The variable that an expression may use, and whether it must evaluate to bool. */
export interface ExpressionPurpose {
  readonly variable: "claims" | "user";
  readonly isCondition: boolean;
}

/**
 * Cost limit. Compat: `CompileClaimsExpression` sets no `cel.CostLimit`; this is the limit of all validation rules of
 * an object.
 */
const LIMIT = 10_000_000;

const texts = listType(stringType);
const USER_FIELDS: ReadonlyMap<string, Type> = new Map([
  ["username", stringType],
  ["uid", stringType],
  ["groups", texts],
  ["extra", mapType(stringType, texts)],
]);
const userType = structType("kubernetes.UserInfo");

const environments = {
  claims: storedExpressions.extend({ variables: { claims: mapType(stringType, anyType) } }),
  user: storedExpressions.extend({
    variables: { user: userType },
    types: {
      isWithoutTypeValues: true,
      findType: (name) => (name === userType.name ? userType : undefined),
      findField: (type, field) => (type === userType.name ? USER_FIELDS.get(field) : undefined),
    },
  }),
};

/** Compiles an expression of an AuthenticationConfiguration. Throws an Error with upstream's message. */
export function compileExpression(text: string, { variable, isCondition }: ExpressionPurpose): CompiledExpression {
  const env = environments[variable];
  const checked = compile(text, env);
  if (checked instanceof CompileError) throw new Error(`compilation failed: ${checked.message}`);
  if (isCondition && checked.type.kind !== "bool") throw new Error("must evaluate to bool");
  const made = program(checked, env);
  if (made instanceof CompileError) throw new Error(`program instantiation failed: ${made.message}`);
  return {
    evaluate: (variables) => run(made, text, variables),
    reads: (member) => readsMember(checked.expr, variable, member),
  };
}

function run(made: Program, text: string, variables: JsonObject): Value {
  const { value } = made.evaluate((name) => {
    const given = getMember(variables, name);
    return isObject(given) ? new FieldsValue(given) : undefined;
  }, LIMIT);
  if (value instanceof CelError) throw new Error(`expression '${text}' resulted in error: ${value.message}`);
  return value;
}

function readsMember(expr: Expr, variable: string, member: string): boolean {
  const isVariable = (part: Expr | undefined) => part?.kind === "ident" && part.name === variable;
  if (expr.kind === "select" && expr.field === member && isVariable(expr.operand)) return true;
  if (expr.kind === "call" && expr.name === operators.optSelect) {
    const [operand, field] = expr.args;
    if (isVariable(operand) && field?.kind === "literal" && field.value === member) return true;
  }
  return partsOf(expr).some((part) => readsMember(part, variable, member));
}

/** Compat: `newClaimsValue` has a float64 for every number, like `json.Unmarshal`. */
function claimValue(json: Json): Value {
  if (isNumber(json)) return new Double(Number(json));
  if (Array.isArray(json)) return new JsonList(json, claimValue);
  return isObject(json) ? new MembersValue(json) : json;
}

/**
 * A JSON object as a CEL map. Its members are also found by names that were escaped with `cel.Escape`. Upstream:
 * `unescapeMapper`.
 */
class MembersValue extends MapValue {
  protected readonly members: JsonObject;
  constructor(members: JsonObject) {
    super();
    this.members = members;
  }
  get size(): number {
    return Object.keys(this.members).length;
  }
  find(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const json = getMember(this.members, unescapeName(key) ?? key);
    return json === undefined ? undefined : claimValue(json);
  }
  keys(): Iterable<Value> {
    return Object.keys(this.members);
  }
}

/** The variable itself. Upstream: `lazy.MapValue`, which finds nothing by a name that cannot be unescaped. */
class FieldsValue extends MembersValue {
  override find(key: Value): Value | undefined {
    if (typeof key !== "string") return noSuchOverload(key);
    const name = unescapeName(key);
    return name === undefined ? undefined : super.find(key);
  }
  /** Compat: the iterator of lazy.MapValue iterates over values. */
  override *keys(): Iterable<Value> {
    for (const json of Object.values(this.members)) yield claimValue(json as Json);
  }
  override isZero(): boolean {
    return false;
  }
}
