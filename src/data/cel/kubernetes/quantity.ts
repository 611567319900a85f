import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantities,
  tenTo,
} from "../../../base/api/quantity.ts";
import { spend } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { boolType, doubleType, intType, stringType, structType } from "../values/types.ts";
import { CelError, Double, Foreign, intOf, NO_SUCH_OVERLOAD, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

/** kubernetes.Quantity. */
export const quantityType = structType("kubernetes.Quantity");

class QuantityValue extends Foreign {
  override get goType(): string {
    return this.isComputed ? "*cel.Quantity" : "cel.Quantity";
  }
  readonly amount: Quantity;
  /** Whether Go stores it as an inf.Dec instead of an int64Amount. */
  readonly isWide: boolean;
  /** Whether add() or sub() created it. */
  readonly isComputed: boolean;
  constructor(amount: Quantity, isWide: boolean, isComputed = false) {
    super();
    this.amount = amount;
    this.isWide = isWide;
    this.isComputed = isComputed;
  }
  get type() {
    return quantityType;
  }
  /** Compat: quantityAdd and quantitySub return pointers, for which Quantity.Equal has no overload. */
  equals(other: Foreign): boolean | CelError {
    if (!(other instanceof QuantityValue) || other.isComputed) return NO_SUCH_OVERLOAD;
    return order(this, other) === 0;
  }
}

/** Parses an amount. An error if the text is not a quantity. */
export function parseAmount(text: string): Quantity | CelError {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return new CelError(error.message);
  }
}

/** A kubernetes.Quantity. An error if the text is not a quantity. */
export function quantityValue(text: string): Value {
  const amount = parseAmount(text);
  return amount instanceof CelError ? amount : new QuantityValue(amount, isWideText(text));
}

const MAX_INT64 = (1n << 63n) - 1n;
const NOT_INTEGER = new CelError("cannot convert value to integer");
const BINARY = "KMGTPE";

/** Compat: ParseQuantity creates an int64Amount only for few digits, and for a binary amount without a fraction. */
function isWideText(text: string): boolean {
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/s.exec(text) ?? [];
  const digits = Math.max(1, whole.length);
  if (!suffix.endsWith("i")) return digits + fraction.length > 18;
  return fraction !== "" || 14 - digits - 3 * (BINARY.indexOf(suffix.charAt(0)) + 1) < 0;
}

/**
 * Compat: Quantity.AsInt64 returns no integer for a negative scale, even for 1.0, or if it is not stored as an int64.
 */
function integerOf({ amount, isWide }: QuantityValue): bigint | undefined {
  const { mantissa, exponent } = amount;
  if (exponent < 0 || isWide) return undefined;
  if (mantissa === 0n) return 0n;
  if (exponent > 18) return undefined;
  const value = mantissa * tenTo(exponent);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

function asInteger(value: QuantityValue): Value {
  const integer = integerOf(value);
  return integer === undefined ? NOT_INTEGER : intOf(integer);
}

/**
 * Compat: ParseQuantity rounds amounts that are not an int64Amount to billionths, and AsApproximateFloat64 multiplies
 * these.
 */
function asFloat({ amount, isWide }: QuantityValue): Double {
  const { mantissa, exponent } = amount;
  const isKept = !isWide || exponent < -9;
  const unscaled = isKept ? mantissa : mantissa * tenTo(exponent + 9);
  const scale = isKept ? exponent : -9;
  return new Double(scale === 0 ? Number(unscaled) : Number(unscaled) * Number(`1e${scale}`));
}

const signOf = ({ amount }: QuantityValue) => (amount.mantissa === 0n ? 0 : amount.mantissa < 0n ? -1 : 1);

function order(a: QuantityValue, b: QuantityValue): number {
  spendOnDigits(a, b);
  return Math.sign(compareQuantities(a.amount, b.amount));
}

const HEX = 16;
/** Converting a number to another base takes the square of its digits. */
const SQUARE_PER_UNIT = 3000;

function spendOnDigits(...values: readonly QuantityValue[]): void {
  for (const { isWide, amount } of values) {
    const digits = isWide ? amount.mantissa.toString(HEX).length : 0;
    spend(digits + (digits * digits) / SQUARE_PER_UNIT);
  }
}

const ofInt = (value: number | bigint): Quantity => ({
  mantissa: BigInt(value),
  exponent: 0,
  format: "DecimalExponent",
});

const fitsInt64 = (value: bigint) => value === BigInt.asIntN(64, value);

/**
 * Compat: resource.Quantity's `int64Amount.Sub` adds the negated number. The negated minimum int64 is the minimum
 * itself.
 */
const negated = ({ mantissa, ...rest }: Quantity): Quantity => ({ ...rest, mantissa: BigInt.asIntN(64, -mantissa) });

type Combine = (a: QuantityValue, b: QuantityValue) => QuantityValue;

const sum: Combine = (a, b) => {
  spendOnDigits(a, b);
  const exact = addQuantities(a.amount, b.amount);
  // Compat: resource.Quantity's `int64Amount.Add` of 0 keeps the other number with its scale.
  const kept = b.amount.mantissa === 0n ? a.amount : a.amount.mantissa === 0n ? b.amount : exact;
  const result = { ...exact, mantissa: kept.mantissa, exponent: kept.exponent };
  return new QuantityValue(result, a.isWide || b.isWide || !fitsInt64(result.mantissa), true);
};

const difference: Combine = (a, b) => {
  spendOnDigits(a, b);
  const isWide = a.isWide || b.isWide;
  const narrow = isWide ? undefined : sum(a, new QuantityValue(negated(b.amount), false));
  return narrow === undefined || narrow.isWide
    ? new QuantityValue(subtractQuantities(a.amount, b.amount), true, true)
    : narrow;
};

const combining = (name: string, combine: Combine) =>
  declare(
    name,
    member(`quantity_${name}`, [quantityType, quantityType], quantityType, combine),
    member(`quantity_${name}_int`, [quantityType, intType], quantityType, (a: QuantityValue, b: number | bigint) =>
      combine(a, new QuantityValue(ofInt(b), false)),
    ),
  );

const both = [quantityType, quantityType];

/** kubernetes.quantity: quantity, isQuantity, sign, comparisons, conversions, add and sub. */
export const quantityLibrary: Library = {
  name: "kubernetes.quantity",
  functions: [
    declare("quantity", global("string_to_quantity", [stringType], quantityType, quantityValue)),
    declare(
      "isQuantity",
      global(
        "is_quantity_string",
        [stringType],
        boolType,
        (text: string) => !(quantityValue(text) instanceof CelError),
      ),
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
    combining("add", sum),
    combining("sub", difference),
  ],
};
