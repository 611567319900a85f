import type { Activation } from "../../cel/eval/frame.ts";
import { authorizerValue, resourceCheckValue } from "../../cel/kubernetes/authorizer.ts";
import type { CompiledExpression } from "../../cel/policies/compiler.ts";
import { jsonValue } from "../../cel/values/json.ts";
import { CelError, MapValue, type Value } from "../../cel/values/value.ts";
import { quote } from "../../lib/go/quote.ts";

/** Compat: `PerCallLimit`. */
export const EXPRESSION_LIMIT = 1_000_000;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** What the variables of expressions stand for. Each is made when the first expression asks for it. */
export interface PolicyInputs {
  readonly object: () => Value;
  readonly oldObject: () => Value;
  readonly request: () => Value;
  /** The same for match conditions. Compat: `Matcher.Match` shows them the resource of the request, whatever an equivalent one is called. */
  readonly ownRequest: () => Value;
  readonly namespaceObject: () => Value;
  readonly params: () => Value;
  /** Absent: nobody may be asked. */
  readonly authorizer?: AuthorizerInputs;
  /** What expressions of all policies without variables are given; made by the first of them. */
  plain?: Activation;
}

/** What `authorizer` and `authorizer.requestResource` stand for. */
export interface AuthorizerInputs {
  readonly check: Parameters<typeof authorizerValue>[0];
  readonly requestResource: Parameters<typeof resourceCheckValue>[1];
}

/** What came of an expression. Upstream: `EvaluationResult`. */
export type Evaluated = { readonly value: Value; readonly error?: undefined } | { readonly error: string };

/** No further expressions are run. Upstream: `ErrOutOfBudget`. */
export class OutOfBudget extends Error {
  constructor() {
    super(OUT_OF_BUDGET);
  }
}

/** Reads a value at most once. */
export function lazily(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    if (made === undefined) made = make();
    return made;
  };
}

/** The value of JSON that is read when an expression wants it. */
export const lazyJson = (make: () => Parameters<typeof jsonValue>[0]): (() => Value) => lazily(() => jsonValue(make()));

/**
 * Evaluates expressions one after the other with the same inputs and a common budget. Variables are evaluated when they
 * are first used, and count for the expression that does it. Upstream: `condition.ForInput`.
 */
export class Evaluation {
  readonly #activation: Activation;
  readonly #variables: Variables | undefined;
  #budget: number;

  constructor(inputs: PolicyInputs, variables: ReadonlyMap<string, CompiledExpression>, budget: number) {
    this.#budget = budget;
    if (variables.size === 0) {
      inputs.plain ??= activationOf(inputs, undefined);
      this.#activation = inputs.plain;
      return;
    }
    this.#variables = new Variables(variables, (name) => this.#activation(name));
    this.#activation = activationOf(inputs, this.#variables);
  }

  get budget(): number {
    return this.#budget;
  }

  /** Throws OutOfBudget. */
  evaluate({ text, program, error }: CompiledExpression): Evaluated {
    if (!program) return { error: `compilation error: ${error}` };
    const { value, cost } = program.evaluate(this.#activation, EXPRESSION_LIMIT);
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

/** The variables of a policy, each evaluated at its first use. Upstream: `lazy.MapValue`. */
class Variables extends MapValue {
  readonly #compiled: ReadonlyMap<string, CompiledExpression>;
  readonly #activation: Activation;
  readonly #values = new Map<string, Value>();
  #cost = 0;

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, activation: Activation) {
    super();
    this.#compiled = compiled;
    this.#activation = activation;
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
    // One that is given twice may use itself by way of another; kube-apiserver does not survive that.
    this.#values.set(key, new CelError(`composited variable ${quote(key)} uses itself`));
    const value = this.#run(key, compiled);
    this.#values.set(key, value);
    return value;
  }

  /** What variables have cost since this was last asked. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  #run(name: string, { program, error }: CompiledExpression): Value {
    if (!program) return new CelError(`composited variable ${quote(name)} fails to compile: ${error}`);
    const { value, cost } = program.evaluate(this.#activation, EXPRESSION_LIMIT);
    this.#cost += cost;
    if (!(value instanceof CelError)) return value;
    return new CelError(`composited variable ${quote(name)} fails to evaluate: ${value.message}`);
  }
}
