import {
  type Amount,
  plus,
  quotient,
  type Range,
  STRING_TRAVERSAL,
  scale,
  sum,
  times,
  wrapped,
} from "../cost/sizes.ts";
import type { StaticCost } from "../standard/library.ts";

const oneMore = (size: Amount) => sum(size, 1);

const oneLess = (size: Amount): Amount => (size > 0 ? wrapped(BigInt(size) - 1n) : 0);

interface Bounds {
  min: Amount;
  max: Amount;
}

/** replace(old, new): the result size if everything is replaced. */
export const replaceEstimate: StaticCost = (estimator, target, args) => {
  const [from, to] = args;
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const size = estimator.sizeOf(target);
  const old = estimator.sizeOf(from);
  const next = estimator.sizeOf(to);
  const count: Bounds = { min: 0, max: 0 };
  const retained: Bounds = { min: 0, max: 0 };
  if (old.min === 0) {
    count.max = oneMore(size.max);
    retained.max = size.max;
  } else if (next.max <= old.min) retained.max = size.max;
  else count.max = quotient(size.max, old.min);
  if (old.max === 0) {
    count.min = oneMore(size.min);
    retained.min = size.min;
  } else if (old.max <= next.min) retained.min = size.min;
  else count.min = quotient(size.min, old.max);
  return { cost: scale(size, 2 * STRING_TRAVERSAL), size: plus(times(count, next), retained) };
};

/** split(separator) and split(separator, limit). */
export const splitEstimate: StaticCost = (estimator, target, args) => {
  if (target === undefined) return undefined;
  const size = estimator.sizeOf(target);
  const limit = args[1]?.expr;
  let { max } = size;
  if (limit?.kind === "literal" && (typeof limit.value === "number" || typeof limit.value === "bigint")) {
    // Compat: `EstimateCallCost` converts a negative limit to a very large uint64.
    max = limit.value < 0 ? wrapped(BigInt(limit.value)) : limit.value;
  }
  return { cost: scale(size, 2 * STRING_TRAVERSAL), size: { min: 0, max } };
};

/** join() and join(separator). */
export const joinEstimate: StaticCost = (estimator, target, [separator]) => {
  if (target === undefined) return undefined;
  const count = estimator.sizeOf(target);
  const element = estimator.elementsOf(target);
  let size: Range = { min: 0, max: 0 };
  if (element !== undefined) size = times(count, estimator.sizeOf(element));
  if (separator !== undefined) {
    const separators = { min: oneLess(count.min), max: oneLess(count.max) };
    size = plus(size, times(estimator.sizeOf(separator), separators));
  }
  return { cost: scale(size, STRING_TRAVERSAL), size };
};
