import type { Expr } from "../parser/ast.ts";
import type { Type } from "../values/types.ts";

/** A size or cost, as exact as cel-go's uint64: a number as long as that is exact, a bigint beyond. */
export type Amount = number | bigint;

/** What uint64 saturates at in cel-go's estimates. */
export const UNBOUNDED: bigint = 2n ** 64n - 1n;

/** From the least to the most: a size, or a cost. */
export interface Range {
  readonly min: Amount;
  readonly max: Amount;
}

/** What a call costs without its arguments, and the size of its result if that has one. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

/** An argument or target, as estimates see it. */
export interface CostNode {
  readonly type: Type;
  /**
   * The way from a variable to it: field names, "@items", "@keys", "@values" and "@indices"; undefined if it is
   * nothing that declarations describe.
   */
  readonly path: readonly string[] | undefined;
  readonly expr: Expr | undefined;
  /** The size as far as the expression tells. */
  readonly size: Range | undefined;
}

/** Gives the sizes that declarations tell: maxLength, maxItems, maxProperties. */
export type SizeEstimator = (node: Omit<CostNode, "size">) => Range | undefined;

/** What cost functions of libraries may ask. */
export interface Estimator {
  /** The size of an argument, or one that is not bounded. */
  sizeOf(node: CostNode): Range;
  /** The elements of a list, as a node of their own; undefined if its type does not tell what they are. */
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

/** The amount times a factor, rounded up; cel-go computes it with float64. */
function scaled(amount: Amount, factor: number): Amount {
  const result = Math.ceil(Number(amount) * factor);
  return result < 2 ** 64 ? exactly(result) : UNBOUNDED;
}

const exactly = (value: number): Amount => (Number.isSafeInteger(value) ? value : BigInt(value));

/** The quotient, rounded up. Compat: `EstimateCallCost` of replace() makes 2^63 of the float64 of the largest uint64, on amd64. */
export function quotient(a: Amount, b: Amount): Amount {
  const result = Math.ceil(Number(a) / Number(b));
  return result < 2 ** 64 ? exactly(result) : 2n ** 63n;
}

/** The smaller one. */
export const least = (a: Amount, b: Amount): Amount => (b < a ? b : a);
/** The larger one. */
export const most = (a: Amount, b: Amount): Amount => (b > a ? b : a);

/** What is left of a product of sizes that a uint64 does not hold; where estimates of cel-go do not saturate. */
export const wrapped = (value: bigint): Amount => amountOf(BigInt.asUintN(64, value));

/** A range of one number. */
export const fixed = (value: Amount): Range => ({ min: value, max: value });
/** Nothing known: from 0 to the largest number. */
export const UNKNOWN: Range = { min: 0, max: UNBOUNDED };
/** The sum of two ranges. */
export const plus = (a: Range, b: Range): Range => ({ min: sum(a.min, b.min), max: sum(a.max, b.max) });
/** The product of two ranges. */
export const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) });
/** The range times a factor, rounded up. */
export const scale = (range: Range, factor: number): Range => ({
  min: scaled(range.min, factor),
  max: scaled(range.max, factor),
});
/** The range that holds both. */
export const union = (a: Range, b: Range): Range => ({ min: least(a.min, b.min), max: most(a.max, b.max) });

/** The cost of going through a text once, per character. */
export const STRING_TRAVERSAL = 0.1;
/** The cost of a pattern per character, times that of the text. */
export const REGEX_LENGTH = 0.25;
/** The cost of making a list. */
export const LIST_CREATE = 10;
/** The cost of making a map. */
export const MAP_CREATE = 30;
/** The cost of making an object. */
export const STRUCT_CREATE = 40;
