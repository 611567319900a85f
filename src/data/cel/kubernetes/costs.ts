import { sizeOf } from "../cost/runtime.ts";
import {
  type CallEstimate,
  fixed,
  LIST_CREATE,
  plus,
  type Range,
  REGEX_LENGTH,
  STRING_TRAVERSAL,
  STRUCT_CREATE,
  scale,
  times,
  wrapped,
} from "../cost/sizes.ts";
import type { RuntimeCost, StaticCost } from "../standard/library.ts";

import { Bytes, ListValue, MapValue, type Value } from "../values/value.ts";
import { joinEstimate, replaceEstimate, splitEstimate } from "./string-estimates.ts";

interface Costs {
  readonly cost: RuntimeCost;
  readonly estimate: StaticCost;
}

const ONE: Costs = { cost: () => 1, estimate: () => ({ cost: fixed(1) }) };

/** The cost of an authorization check, which may call a webhook. */
const CHECK = 350_000;

const textCost = (value: Value | undefined, factor = STRING_TRAVERSAL) => Math.ceil(sizeOf(value as Value) * factor);

/** The costs of reading the first argument. The result does not have its size. */
const reading = (factor: number): Costs => ({
  cost: ([text]) => textCost(text, factor),
  estimate: (estimator, _, args) => args[0] && { cost: scale(estimator.sizeOf(args[0]), factor) },
});

/** The costs of reading the target. The result is at most as long. */
const transforming: Costs = {
  cost: ([text]) => textCost(text),
  estimate(estimator, target) {
    if (target === undefined) return undefined;
    const size = estimator.sizeOf(target);
    return { cost: scale(size, STRING_TRAVERSAL), size };
  },
};

const parsing: Costs = {
  cost: ([text]) => textCost(text),
  estimate(estimator, _, args) {
    if (args.length !== 1) return undefined;
    const size = estimator.sizeOf(args[0] as (typeof args)[0]);
    return { cost: scale(size, STRING_TRAVERSAL), size };
  },
};

/** Compat: library.traversalCost counts bytes and rounds down for each element. */
function listTraversal(value: Value): number {
  if (typeof value === "string") return Math.floor(Buffer.byteLength(value) * STRING_TRAVERSAL);
  if (value instanceof Bytes) return Math.floor(value.data.length * STRING_TRAVERSAL);
  let cost = 0;
  if (value instanceof ListValue) {
    for (let i = 0; i < value.size; i++) cost += listTraversal(value.at(i));
    return cost;
  }
  if (!(value instanceof MapValue)) return 1;
  for (const key of value.keys()) cost += listTraversal(key) + listTraversal(value.find(key) as Value);
  return cost;
}

const listEstimate =
  (isIncludes: boolean): StaticCost =>
  (estimator, target) => {
    if (target === undefined) return undefined;
    const size = estimator.sizeOf(target);
    const element = estimator.elementsOf(target);
    if (element === undefined) return { cost: isIncludes ? size : scale(size, STRING_TRAVERSAL) };
    const isText = element.type.kind === "string" || element.type.kind === "bytes";
    const each = isText ? plus(fixed(1), scale(estimator.sizeOf(element), STRING_TRAVERSAL)) : fixed(1);
    return { cost: times(size, each) };
  };

const traversing = (isIncludes = false): Costs => ({
  cost: ([list]) => listTraversal(list as Value),
  estimate: listEstimate(isIncludes),
});

/** The costs of strings.quote(): the result has two quotes, and at most every character is escaped. */
const quoting: Costs = {
  cost: ([text]) => textCost(text),
  estimate(estimator, _, args) {
    if (args[0] === undefined) return undefined;
    const size = estimator.sizeOf(args[0]);
    return {
      cost: scale(size, STRING_TRAVERSAL),
      // Compat: for `ExtQuoteString`, the maximum uint64 times two, plus two, is 0.
      size: { min: wrapped(BigInt(size.min) + 2n), max: wrapped(BigInt(size.max) * 2n + 2n) },
    };
  },
};

const searching: Costs = {
  cost: ([text, pattern]) =>
    Math.ceil((1 + sizeOf(text as Value)) * STRING_TRAVERSAL) * textCost(pattern, REGEX_LENGTH),
  estimate(estimator, target, [pattern]) {
    if (target === undefined || pattern === undefined) return undefined;
    const size = estimator.sizeOf(target);
    const text = scale(plus(size, fixed(1)), STRING_TRAVERSAL);
    const cost = times(text, scale(estimator.sizeOf(pattern), REGEX_LENGTH));
    return { cost, size: { min: 0, max: size.max } };
  },
};

/** The size of an IP address in bytes, for the cost of a comparison. */
const ADDRESS: Range = { min: 4, max: 16 };
const addressComparison = scale(plus(ADDRESS, ADDRESS), STRING_TRAVERSAL);

/** The costs of `containsIP` and `containsCIDR`. A text argument has to be parsed as well. */
export function containment(isRange: boolean, isText: boolean): Costs {
  return {
    cost([range, other]) {
      const size = sizeOf(range as Value);
      let cost = Math.ceil((size + size) * STRING_TRAVERSAL);
      if (isRange) cost += Math.ceil(size * STRING_TRAVERSAL) + 1;
      return isText ? cost + textCost(other) : cost;
    },
    estimate(estimator, _, [other]) {
      if (other === undefined) return undefined;
      let cost = addressComparison;
      if (isRange) cost = plus(plus(cost, scale(ADDRESS, STRING_TRAVERSAL)), fixed(1));
      return { cost: isText ? plus(cost, scale(estimator.sizeOf(other), STRING_TRAVERSAL)) : cost };
    },
  };
}

function selectorCost(size: Range): Range {
  const requirements = scale(scale(size, 0.5), LIST_CREATE + STRUCT_CREATE);
  return plus(plus(fixed(LIST_CREATE), scale(size, STRING_TRAVERSAL)), requirements);
}

const selecting: Costs = {
  cost: ([, text]) => Number(selectorCost(fixed(sizeOf(text as Value))).max),
  estimate: (estimator, _, args): CallEstimate | undefined =>
    args[0] && { cost: selectorCost(estimator.sizeOf(args[0])) },
};

const twice = 2 * STRING_TRAVERSAL;

const table = new Map<string, Costs>();
const add = (names: string, costs: Costs) => {
  for (const name of names.split(" ")) table.set(name, costs);
};

add("serviceAccount path group resource subresource namespace name allowed reason error errored", ONE);
add("check", { cost: () => CHECK, estimate: () => ({ cost: fixed(CHECK) }) });
add("fieldSelector labelSelector", selecting);
add("isSorted sum max min indexOf lastIndexOf", traversing());
add("includes", traversing(true));
add("url jsonpatch.escapeKey", parsing);
add("lowerAscii upperAscii substring trim", transforming);
add("replace", { cost: ([text]) => textCost(text, twice), estimate: replaceEstimate });
add("split", { cost: ([text]) => textCost(text, twice), estimate: splitEstimate });
add("join", { cost: (_, result) => textCost(result, twice), estimate: joinEstimate });
add("find findAll", searching);
add("strings.quote", quoting);
add("format", {
  cost: ([text]) => textCost(text),
  estimate: (estimator, target) => target && { cost: scale(estimator.sizeOf(target), STRING_TRAVERSAL) },
});
add("cidr isIP isCIDR ip quantity isQuantity semver isSemver", reading(STRING_TRAVERSAL));
add("ip.isCanonical", reading(twice));
add("masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast", ONE);
add("isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat", ONE);
add("isGreaterThan isLessThan compareTo add sub major minor patch", ONE);
add("getScheme getHostname getHost getPort getEscapedPath getQuery", ONE);
add("containsIP", containment(false, false));
add("containsCIDR", containment(true, false));

/** The run-time cost of a function by name. Undefined if its overloads define it, or if it is 1. */
export const callCost = (name: string): RuntimeCost | undefined => table.get(name)?.cost;

/** The estimate for a function by name. */
export const callEstimate = (name: string): StaticCost | undefined => table.get(name)?.estimate;
