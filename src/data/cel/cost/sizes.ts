import type { Expr } from "../parser/ast.ts";
import type { Type } from "../values/types.ts";

/** A size or cost with the precision of cel-go's uint64: a number while that is exact, otherwise a bigint. */
export type Amount = number | bigint;

/** The value at which uint64 saturates in cel-go's estimates. */
export const UNBOUNDED: bigint = 2n ** 64n - 1n;

/** The minimum and maximum of a size or cost. */
export interface Range {
  readonly min: Amount;
  readonly max: Amount;
}

/** The cost of a call without its arguments, and the size of its result, if it has one. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

/** An argument or target in an estimate. */
export interface CostNode {
  readonly type: Type;
  /**
   * The path from a variable: field names, "@items", "@keys", "@values" and "@indices". Undefined if no declaration
   * describes the node.
   */
  readonly path: readonly string[] | undefined;
  readonly expr: Expr | undefined;
  /** The size, if the expression determines it. */
  readonly size: Range | undefined;
}

/** Returns sizes from declarations: maxLength, maxItems, maxProperties. */
export type SizeEstimator = (node: Omit<CostNode, "size">) => Range | undefined;

/** What cost functions of libraries can query. */
export interface Estimator {
  /** The size of an argument. UNKNOWN if it is not bounded. */
  sizeOf(node: CostNode): Range;
  /** The elements of a list as a node. Undefined if its type does not define them. */
  elementsOf(list: CostNode): CostNode | undefined;
}

function amountOf(value: bigint): Amount {
  if (value > UNBOUNDED) return UNBOUNDED;
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** The sum of two amounts. */
export function sum(a: Amount, b: Amount): Amount {
  if (typeof a === "number" && typeof b === "number") {
    const result = a + b;
    if (Number.isSafeInteger(result)) return result;
  }
  return amountOf(BigInt(a) + BigInt(b));
}

/** The product of two amounts. */
export function product(a: Amount, b: Amount): Amount {
  if (typeof a === "number" && typeof b === "number") {
    const result = a * b;
    if (Number.isSafeInteger(result)) return result;
  }
  return amountOf(BigInt(a) * BigInt(b));
}

/** Multiplies by a factor and rounds up. cel-go uses float64. */
function scaled(amount: Amount, factor: number): Amount {
  const result = Math.ceil(Number(amount) * factor);
  return result < 2 ** 64 ? exactly(result) : UNBOUNDED;
}

const exactly = (value: number): Amount => (Number.isSafeInteger(value) ? value : BigInt(value));

/**
 * The quotient, rounded up. Compat: on amd64, `EstimateCallCost` of replace() converts the float64 of the maximum
 * uint64 to 2^63.
 */
export function quotient(a: Amount, b: Amount): Amount {
  const result = Math.ceil(Number(a) / Number(b));
  return result < 2 ** 64 ? exactly(result) : 2n ** 63n;
}

/** The minimum. */
export const least = (a: Amount, b: Amount): Amount => (b < a ? b : a);
/** The maximum. */
export const most = (a: Amount, b: Amount): Amount => (b > a ? b : a);

/** Wraps around at 64 bits, where estimates of cel-go do not saturate. */
export const wrapped = (value: bigint): Amount => amountOf(BigInt.asUintN(64, value));

/** A range of a single value. */
export const fixed = (value: Amount): Range => ({ min: value, max: value });
/** The range of an unknown value. */
export const UNKNOWN: Range = { min: 0, max: UNBOUNDED };
/** The sum of two ranges. */
export const plus = (a: Range, b: Range): Range => ({ min: sum(a.min, b.min), max: sum(a.max, b.max) });
/** The product of two ranges. */
export const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) });
/** Multiplies a range by a factor and rounds up. */
export const scale = (range: Range, factor: number): Range => ({
  min: scaled(range.min, factor),
  max: scaled(range.max, factor),
});
/** The range that contains both. */
export const union = (a: Range, b: Range): Range => ({ min: least(a.min, b.min), max: most(a.max, b.max) });

/** The cost of traversing a text, per character. */
export const STRING_TRAVERSAL = 0.1;
/** The cost of a pattern per character, multiplied by that of the text. */
export const REGEX_LENGTH = 0.25;
/** The cost of creating a list. */
export const LIST_CREATE = 10;
/** The cost of creating a map. */
export const MAP_CREATE = 30;
/** The cost of creating an object. */
export const STRUCT_CREATE = 40;
