import type { JsonObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { Meter } from "../../../base/util/meter.ts";
import type { Random } from "../../../base/util/random.ts";
import { Environment } from "../../../data/cel/environment.ts";
import { global, member } from "../../../data/cel/kubernetes/declare.ts";
import { CompileError, compile, type Program, program } from "../../../data/cel/program.ts";
import type { FunctionDeclaration, Implementation, Library } from "../../../data/cel/standard/library.ts";
import { optionalLibrary } from "../../../data/cel/standard/optional.ts";
import { standardLibrary } from "../../../data/cel/standard/standard.ts";
import { nanosOf, timestampOf } from "../../../data/cel/values/time.ts";
import { doubleType, dynType, stringType, type Type, timestampType } from "../../../data/cel/values/types.ts";
import {
  CelError,
  Double,
  Duration,
  isError,
  isInt,
  MapValue,
  Timestamp,
  Uint,
  type Value,
} from "../../../data/cel/values/value.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import { KwokQuantity, kwokQuantityType, quantityOf, quantityOperators } from "./cel-quantity.ts";
import { structValue } from "./cel-values.ts";

/** What expressions of KWOK work with. */
export interface KwokCelContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** The types of variables, by name. */
export type KwokVariables = Readonly<Record<string, string>>;

/** An expression that has been compiled. Throws if the evaluation fails or costs too much. */
export type KwokExpression = (variables: Readonly<Record<string, JsonObject>>) => Value;

/** Units of the meter for one evaluation, about a millisecond. */
const MAX_UNITS = 10_000;

/** Compiles expressions of KWOK with variables of built-in types, such as `io.k8s.api.core.v1.Pod`. */
export class KwokCel {
  readonly #environment: Environment;
  readonly #variables: KwokVariables;

  constructor(context: KwokCelContext, variables: KwokVariables) {
    this.#variables = variables;
    this.#environment = new Environment({
      libraries: [kwokLibrary(context), standardLibrary, optionalLibrary],
      variables: Object.fromEntries(Object.keys(variables).map((name) => [name, dynType])),
    });
  }

  /** Throws if the expression is malformed or uses what is not supported. */
  compile(text: string): KwokExpression {
    const checked = compile(text, this.#environment);
    if (checked instanceof CompileError) throw checked;
    const made = program(checked, this.#environment);
    if (made instanceof CompileError) throw made;
    return (variables) => this.#evaluate(made, variables);
  }

  #evaluate(made: Program, variables: Readonly<Record<string, JsonObject>>): Value {
    const values = new Map<string, Value>();
    const activation = (name: string) => {
      const type = this.#variables[name];
      if (type === undefined) return undefined;
      const value = values.get(name) ?? structValue(variables[name], builtInSchema(type));
      values.set(name, value);
      return value;
    };
    const { value } = made.evaluate(activation, MAX_UNITS, new Meter(MAX_UNITS));
    if (isError(value)) throw new Error(value.message);
    return value;
  }
}

/** The number that an expression yields. Upstream: AsFloat64 of KWOK */
export function numberOf(value: Value): number {
  if (value instanceof KwokQuantity) return value.asNumber();
  if (value instanceof Double) return value.value;
  if (value instanceof Duration) return Number(value.nanos);
  if (isInt(value) || typeof value === "boolean") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  throw new Error("the expression yields no number");
}

/** Called as `name(target, …)` and as `target.name(…)`, as all functions of KWOK with arguments. */
function both(name: string, target: Type, result: Type, call: Implementation): FunctionDeclaration {
  const id = name.toLowerCase();
  return { name, overloads: [global(id, [target], result, call), member(`${id}_method`, [target], result, call)] };
}

/** Upstream: DefaultFuncs of KWOK */
function kwokLibrary({ clock, random }: KwokCelContext): Library {
  const now = () => timestampOf(BigInt(Math.round(clock.now())) * 1_000_000n, 0);
  const since = (object: Value): Value => {
    const metadata = object instanceof MapValue ? object.find("metadata") : undefined;
    const created = metadata instanceof MapValue ? metadata.find("creationTimestamp") : undefined;
    if (!(created instanceof Timestamp)) return new CelError("SinceSecond needs a Pod or a Node");
    return new Double(clock.now() / 1000 - created.seconds);
  };
  const nullary = (name: string, result: Type, call: Implementation): FunctionDeclaration => {
    return { name, overloads: [global(name, [], result, call)] };
  };
  return {
    name: "kwok",
    functions: [
      ...quantityOperators,
      nullary("Now", timestampType, now),
      nullary("now", timestampType, now),
      nullary("Rand", doubleType, () => new Double(random.fraction())),
      both("Quantity", stringType, kwokQuantityType, quantityOf),
      both("SinceSecond", dynType, doubleType, since),
      both("UnixSecond", timestampType, doubleType, (time: Timestamp) => new Double(Number(nanosOf(time)) / 1e9)),
    ],
  };
}
