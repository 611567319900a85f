import type { Expr } from "../parser/ast.ts";
import type { Type } from "../values/types.ts";

/** What uint64 saturates at in cel-go's estimates. */
export const UNBOUNDED: number = 2 ** 64;

/** From the least to the most: a size, or a cost. */
export interface Range {
  readonly min: number;
  readonly max: number;
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

const saturate = (value: number) => (value > UNBOUNDED ? UNBOUNDED : value);

/** A range of one number. */
export const fixed = (value: number): Range => ({ min: value, max: value });
/** Nothing known: from 0 to the largest number. */
export const UNKNOWN: Range = { min: 0, max: UNBOUNDED };
/** The sum of two ranges. */
export const plus = (a: Range, b: Range): Range => ({ min: saturate(a.min + b.min), max: saturate(a.max + b.max) });
/** The product of two ranges. */
export const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) });
/** The range times a factor, rounded up. */
export const scale = (range: Range, factor: number): Range => ({
  min: saturate(Math.ceil(range.min * factor)),
  max: saturate(Math.ceil(range.max * factor)),
});
/** The range that holds both. */
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

const product = (a: number, b: number) => (a === 0 || b === 0 ? 0 : saturate(a * b));

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
