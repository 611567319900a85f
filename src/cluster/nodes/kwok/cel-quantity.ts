import { addQuantities, compareQuantities, type Quantity, subtractQuantities } from "../../../base/api/quantity.ts";
import { roundUp } from "../../../base/api/resource-amounts.ts";
import { parseAmount } from "../../../data/cel/kubernetes/quantity.ts";
import { operators } from "../../../data/cel/parser/ast.ts";
import type { FunctionDeclaration, Implementation, Overload } from "../../../data/cel/standard/library.ts";
import { operatorFunctions } from "../../../data/cel/standard/operators.ts";
import { boolType, doubleType, intType, structType, type Type } from "../../../data/cel/values/types.ts";
import { CelError, Double, Foreign, isInt, NO_SUCH_OVERLOAD, type Value } from "../../../data/cel/values/value.ts";

/** kubernetes.Quantity of KWOK, which has operators, unlike that of Kubernetes. */
export const kwokQuantityType: Type = structType("kubernetes.Quantity");

/** Greater exponents take long to compute. No real amount has them. */
const MAX_EXPONENT = 30;

/** A quantity in an expression of KWOK. */
export class KwokQuantity extends Foreign {
  readonly amount: Quantity;

  constructor(amount: Quantity) {
    super();
    this.amount = amount;
  }

  get type(): Type {
    return kwokQuantityType;
  }

  equals(other: Foreign): boolean | CelError {
    return other instanceof KwokQuantity ? compareQuantities(this.amount, other.amount) === 0 : NO_SUCH_OVERLOAD;
  }

  /** Upstream: AsApproximateFloat64 */
  asNumber(): number {
    return Number(`${this.amount.mantissa}e${this.amount.exponent}`);
  }
}

/** Parses a quantity: the function `Quantity`. */
export function quantityOf(text: string): KwokQuantity | CelError {
  const amount = parseAmount(text);
  if (amount instanceof CelError) return amount;
  return amount.exponent > MAX_EXPONENT ? new CelError("quantity is too large") : new KwokQuantity(amount);
}

const milli = (value: bigint): KwokQuantity => new KwokQuantity({ mantissa: value, exponent: -3, format: "DecimalSI" });

type WithQuantity = (quantity: KwokQuantity, other: Value) => Value;

const both =
  (apply: (one: Quantity, other: Quantity) => Quantity): WithQuantity =>
  (quantity, other) =>
    other instanceof KwokQuantity ? new KwokQuantity(apply(quantity.amount, other.amount)) : NO_SUCH_OVERLOAD;

const ordered =
  (holds: (order: number) => boolean): WithQuantity =>
  (quantity, other) =>
    other instanceof KwokQuantity ? holds(compareQuantities(quantity.amount, other.amount)) : NO_SUCH_OVERLOAD;

/** Compat: `newQuantityFromMilliInt64` of KWOK: products and quotients keep thousandths. */
const scaled =
  (
    integers: (one: bigint, other: bigint) => bigint | undefined,
    numbers: (one: number, other: number) => number,
  ): WithQuantity =>
  (quantity, other) => {
    if (isInt(other)) {
      const result = integers(roundUp(quantity.amount, 3), BigInt(other));
      return result === undefined ? new CelError("division by zero") : milli(result);
    }
    if (!(other instanceof Double)) return NO_SUCH_OVERLOAD;
    const result = numbers(quantity.asNumber(), other.value) * 1000;
    return Number.isFinite(result) ? milli(BigInt(Math.trunc(result))) : new CelError("quantity is too large");
  };

const Q = kwokQuantityType;
const comparisons: readonly [string, string, WithQuantity][] = [
  [operators.less, "less", ordered((order) => order < 0)],
  [operators.lessEquals, "less_equals", ordered((order) => order <= 0)],
  [operators.greater, "greater", ordered((order) => order > 0)],
  [operators.greaterEquals, "greater_equals", ordered((order) => order >= 0)],
];
const OPERATIONS: readonly [name: string, overloads: readonly Overload[], apply: WithQuantity][] = [
  [operators.add, [{ id: "add_quantity", args: [Q, Q], result: Q }], both(addQuantities)],
  [operators.subtract, [{ id: "subtract_quantity", args: [Q, Q], result: Q }], both(subtractQuantities)],
  [
    operators.multiply,
    scaledOverloads("multiply"),
    scaled(
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  ],
  [
    operators.divide,
    scaledOverloads("divide"),
    scaled(
      (a, b) => (b === 0n ? undefined : a / b),
      (a, b) => a / b,
    ),
  ],
  ...comparisons.map(([name, id, apply]): (typeof OPERATIONS)[number] => [
    name,
    [{ id: `${id}_quantity`, args: [Q, Q], result: boolType }],
    apply,
  ]),
];

function scaledOverloads(id: string): Overload[] {
  return [
    { id: `${id}_quantity_int`, args: [Q, intType], result: Q },
    { id: `${id}_quantity_double`, args: [Q, doubleType], result: Q },
  ];
}

/** The operators of CEL, for quantities as well. They must be declared before those of the language. */
export const quantityOperators: readonly FunctionDeclaration[] = OPERATIONS.map(([name, overloads, apply]) => {
  const standard = operatorFunctions.find((one) => one.name === name)?.call as
    | ((a: Value, b: Value) => Value)
    | undefined;
  const call = (a: Value, b: Value): Value =>
    a instanceof KwokQuantity ? apply(a, b) : (standard?.(a, b) ?? NO_SUCH_OVERLOAD);
  return { name, overloads, call: call as Implementation };
});
