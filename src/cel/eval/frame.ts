import type { Value } from "../values/value.ts";

/** Gives the values of variables; undefined for one that has none. */
export type Activation = (name: string) => Value | undefined;

/** Ends an evaluation whose cost is above its limit. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** The state of one evaluation: what it has cost, and the variables of its folds. */
export class Frame {
  cost = 0;
  readonly limit: number;
  readonly activation: Activation;
  /** Values of the variables of folds, each at the index that it was given when the expression was planned. */
  readonly locals: (Value | undefined)[] = [];

  constructor(activation: Activation, limit: number) {
    this.activation = activation;
    this.limit = limit;
  }

  /** Adds to the cost, and ends the evaluation if that is more than its limit. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostExceeded();
  }
}

/** Evaluates an expression or a part of one. */
export type Run = (frame: Frame) => Value;
