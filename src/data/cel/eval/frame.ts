import { type Meter, TooCostly } from "../../../base/util/meter.ts";
import type { Value } from "../values/value.ts";

/** Returns the value of a variable. Undefined if it has none. */
export type Activation = (name: string) => Value | undefined;

/** The cost of an evaluation exceeds its limit. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** The state of one evaluation: its cost so far, and the variables of its folds. */
export class Frame {
  cost = 0;
  readonly activation: Activation;
  /** Values of the variables of folds, each at the index assigned by the planner. */
  readonly locals: (Value | undefined)[] = [];
  readonly limit: number;
  /** The lower one of the limit and of what is left on the meter. */
  readonly ceiling: number;

  constructor(activation: Activation, limit: number, meter: Meter) {
    this.activation = activation;
    this.limit = limit;
    this.ceiling = Math.min(limit, meter.left);
  }

  /** Adds to the cost. Throws CostExceeded above the limit, TooCostly above what the meter has left. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.ceiling) throw this.cost > this.limit ? new CostExceeded() : new TooCostly();
  }

  /**
   * Call it before work of this cost, which is charged afterwards. Throws TooCostly if the meter has less left. The limit of
   * the evaluation is not checked: where the work fails, cel-go reports that failure.
   */
  foresee(cost: number): void {
    if (this.cost + cost > this.ceiling && this.ceiling < this.limit) throw new TooCostly();
  }
}

/** Evaluates an expression or a part of it. */
export type Run = (frame: Frame) => Value;
