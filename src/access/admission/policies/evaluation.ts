import { quote } from "../../../base/go/quote.ts";
import { currentMeter, type Meter } from "../../../base/util/meter.ts";
import type { Activation } from "../../../data/cel/eval/frame.ts";
import { authorizerValue, resourceCheckValue } from "../../../data/cel/kubernetes/authorizer.ts";
import type { CompiledExpression } from "../../../data/cel/policies/compiler.ts";
import { jsonValue } from "../../../data/cel/values/json.ts";
import { CelError, MapValue, type Value } from "../../../data/cel/values/value.ts";

/** Compat: `PerCallLimit`. */
export const EXPRESSION_LIMIT = 1_000_000;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** Values of the variables of expressions. Each is created when an expression first uses it. */
export interface PolicyInputs {
  readonly object: () => Value;
  readonly oldObject: () => Value;
  readonly request: () => Value;
  /**
   * `request` for match conditions. Compat: `Matcher.Match` uses the resource of the request, even if an equivalent one
   * matched.
   */
  readonly ownRequest: () => Value;
  readonly namespaceObject: () => Value;
  readonly params: () => Value;
  /** If omitted, expressions cannot use the authorizer. */
  readonly authorizer?: AuthorizerInputs;
  /** Activation shared by all policies without variables. Created by the first of them. */
  plain?: Activation;
}

/** Values of `authorizer` and `authorizer.requestResource`. */
export interface AuthorizerInputs {
  readonly check: Parameters<typeof authorizerValue>[0];
  readonly requestResource: Parameters<typeof resourceCheckValue>[1];
}

/** Result of an expression. Upstream: `EvaluationResult`. */
export type Evaluated = { readonly value: Value; readonly error?: undefined } | { readonly error: string };

/** The cost budget is used up, so no further expressions are evaluated. Upstream: `ErrOutOfBudget`. */
export class OutOfBudget extends Error {
  constructor() {
    super(OUT_OF_BUDGET);
  }
}

/** Calls `make` on first use, and caches the value. */
export function lazily(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    if (made === undefined) made = make();
    return made;
  };
}

/** A CEL value of JSON that is created on first use. */
export const lazyJson = (make: () => Parameters<typeof jsonValue>[0]): (() => Value) => lazily(() => jsonValue(make()));

/**
 * Evaluates expressions one after the other with the same inputs and a common budget. Variables are evaluated on first
 * use, at the cost of that expression. Upstream: `condition.ForInput`.
 */
export class Evaluation {
  readonly #activation: Activation;
  readonly #meter = currentMeter();
  readonly #variables: Variables | undefined;
  #budget: number;

  constructor(inputs: PolicyInputs, variables: ReadonlyMap<string, CompiledExpression>, budget: number) {
    this.#budget = budget;
    if (variables.size === 0) {
      inputs.plain ??= activationOf(inputs, undefined);
      this.#activation = inputs.plain;
      return;
    }
    this.#variables = new Variables(variables, (name) => this.#activation(name), this.#meter);
    this.#activation = activationOf(inputs, this.#variables);
  }

  get budget(): number {
    return this.#budget;
  }

  /** Throws OutOfBudget. */
  evaluate({ text, program, error }: CompiledExpression): Evaluated {
    if (!program) return { error: `compilation error: ${error}` };
    const { value, cost } = program.evaluate(this.#activation, EXPRESSION_LIMIT, this.#meter);
    if (this.#variables) this.#spend(this.#variables.takeCost());
    this.#spend(cost);
    if (value instanceof CelError) return { error: `expression '${text}' resulted in error: ${value.message}` };
    return { value };
  }

  #spend(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget();
    this.#budget -= cost;
  }
}

function activationOf(inputs: PolicyInputs, variables: Variables | undefined): Activation {
  const { authorizer } = inputs;
  return (name) => {
    switch (name) {
      case "object":
        return inputs.object();
      case "oldObject":
        return inputs.oldObject();
      case "request":
        return inputs.request();
      case "namespaceObject":
        return inputs.namespaceObject();
      case "params":
        return inputs.params();
      case "variables":
        return variables;
      case "authorizer":
        return authorizer && authorizerValue(authorizer.check);
      case "authorizer.requestResource":
        return authorizer && resourceCheckValue(authorizer.check, authorizer.requestResource);
      default:
        return undefined;
    }
  };
}

/** The variables of a policy, each evaluated on first use. Upstream: `lazy.MapValue`. */
class Variables extends MapValue {
  readonly #compiled: ReadonlyMap<string, CompiledExpression>;
  readonly #activation: Activation;
  readonly #values = new Map<string, Value>();
  readonly #meter: Meter;
  #cost = 0;

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, activation: Activation, meter: Meter) {
    super();
    this.#compiled = compiled;
    this.#activation = activation;
    this.#meter = meter;
  }

  get size(): number {
    return this.#compiled.size;
  }

  keys(): Iterable<Value> {
    return this.#compiled.keys();
  }

  find(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(key);
    if (!compiled) return undefined;
    // A variable that is defined twice may use itself through another one. Differs: kube-apiserver crashes then.
    this.#values.set(key, new CelError(`composited variable ${quote(key)} uses itself`));
    const value = this.#run(key, compiled);
    this.#values.set(key, value);
    return value;
  }

  /** Returns the cost of variables since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  #run(name: string, { program, error }: CompiledExpression): Value {
    if (!program) return new CelError(`composited variable ${quote(name)} fails to compile: ${error}`);
    const { value, cost } = program.evaluate(this.#activation, EXPRESSION_LIMIT, this.#meter);
    this.#cost += cost;
    if (!(value instanceof CelError)) return value;
    return new CelError(`composited variable ${quote(name)} fails to evaluate: ${value.message}`);
  }
}
