import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantities,
  tenTo,
} from "../../api/quantity.ts";
import type { Library } from "../library/library.ts";
import { boolType, doubleType, intType, stringType, structType } from "../values/types.ts";
import { CelError, Double, Foreign, intOf, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

/** kubernetes.Quantity. */
export const quantityType = structType("kubernetes.Quantity");

class QuantityValue extends Foreign {
  readonly amount: Quantity;
  constructor(amount: Quantity) {
    super();
    this.amount = amount;
  }
  get type() {
    return quantityType;
  }
  equals(other: Foreign): boolean {
    return other instanceof QuantityValue && compareQuantities(this.amount, other.amount) === 0;
  }
}

function parse(text: string): Value {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return new CelError(error.message);
  }
}

const MAX_INT64 = (1n << 63n) - 1n;
const NOT_INTEGER = new CelError("cannot convert value to integer");
/** Compat: what ParseQuantity reads with more digits, or as a larger binary amount, is no int64Amount any more. */
const MAX_DECIMAL = 10n ** 18n;
const MAX_BINARY = 106n * 10n ** 12n;

const isLarge = ({ mantissa, format }: Quantity) => {
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  return magnitude >= (format === "BinarySI" ? MAX_BINARY : MAX_DECIMAL);
};

/** Compat: Quantity.AsInt64 finds no integer in what has a negative scale, even in 1.0, or was not kept as an int64. */
function integerOf({ amount }: QuantityValue): bigint | undefined {
  const { mantissa, exponent } = amount;
  if (exponent < 0 || isLarge(amount)) return undefined;
  if (mantissa === 0n) return 0n;
  if (exponent > 18) return undefined;
  const value = mantissa * tenTo(exponent);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

function asInteger(value: QuantityValue): Value {
  const integer = integerOf(value);
  return integer === undefined ? NOT_INTEGER : intOf(integer);
}

const asFloat = ({ amount }: QuantityValue) => new Double(Number(amount.mantissa) * Number(`1e${amount.exponent}`));
const signOf = ({ amount }: QuantityValue) => (amount.mantissa === 0n ? 0 : amount.mantissa < 0n ? -1 : 1);
const order = (a: QuantityValue, b: QuantityValue) => Math.sign(compareQuantities(a.amount, b.amount));
const ofInt = (value: number | bigint): Quantity => ({
  mantissa: BigInt(value),
  exponent: 0,
  format: "DecimalExponent",
});

type Combine = (a: Quantity, b: Quantity) => Quantity;

const combining = (name: string, combine: Combine) =>
  declare(
    name,
    member(
      `quantity_${name}`,
      [quantityType, quantityType],
      quantityType,
      (a: QuantityValue, b: QuantityValue) => new QuantityValue(combine(a.amount, b.amount)),
    ),
    member(
      `quantity_${name}_int`,
      [quantityType, intType],
      quantityType,
      (a: QuantityValue, b: number | bigint) => new QuantityValue(combine(a.amount, ofInt(b))),
    ),
  );

const both = [quantityType, quantityType];

/** kubernetes.quantity: quantity, isQuantity, sign, comparisons, conversions, add and sub. */
export const quantityLibrary: Library = {
  name: "kubernetes.quantity",
  functions: [
    declare("quantity", global("string_to_quantity", [stringType], quantityType, parse)),
    declare(
      "isQuantity",
      global("is_quantity_string", [stringType], boolType, (text: string) => !(parse(text) instanceof CelError)),
    ),
    declare("sign", global("quantity_sign", [quantityType], intType, signOf)),
    declare(
      "isGreaterThan",
      member("quantity_is_greater_than", both, boolType, (a: QuantityValue, b: QuantityValue) => order(a, b) > 0),
    ),
    declare(
      "isLessThan",
      member("quantity_is_less_than", both, boolType, (a: QuantityValue, b: QuantityValue) => order(a, b) < 0),
    ),
    declare("compareTo", member("quantity_compare_to", both, intType, order)),
    declare("asApproximateFloat", member("quantity_get_float", [quantityType], doubleType, asFloat)),
    declare("asInteger", member("quantity_get_int", [quantityType], intType, asInteger)),
    declare(
      "isInteger",
      member("quantity_is_integer", [quantityType], boolType, (value: QuantityValue) => integerOf(value) !== undefined),
    ),
    combining("add", addQuantities),
    combining("sub", subtractQuantities),
  ],
};
