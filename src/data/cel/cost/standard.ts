import {
  type CallEstimate,
  type CostNode,
  fixed,
  least,
  plus,
  type Range,
  REGEX_LENGTH,
  STRING_TRAVERSAL,
  scale,
  times,
  UNKNOWN,
  wrapped,
} from "./sizes.ts";

type Estimate = (target: CostNode | undefined, args: readonly CostNode[]) => CallEstimate | undefined;

const sizeOf = (node: CostNode | undefined): Range => node?.size ?? UNKNOWN;
const traversal = (size: Range) => scale(size, STRING_TRAVERSAL);

const ofArgument: Estimate = (_, args) => ({ cost: traversal(sizeOf(args[0])) });

/** Limited by the shorter argument. At least one character, unless one argument is certainly empty. */
const comparison: Estimate = (_, args) => {
  const max = least(sizeOf(args[0]).max, sizeOf(args[1]).max);
  return { cost: traversal({ min: max > 0 ? 1 : 0, max }) };
};

const joining: Estimate = (_, args) => {
  const size = plus(sizeOf(args[0]), sizeOf(args[1]));
  return { cost: traversal(size), size };
};

const estimates = new Map<string, Estimate>([
  ["starts_with_string", ofArgument],
  ["ends_with_string", ofArgument],
  ["in_list", (_, args) => ({ cost: scale(sizeOf(args[1]), 1) })],
  [
    "matches_string",
    (target, args) => {
      if (target === undefined || args.length !== 1) return undefined;
      const text = traversal(plus(sizeOf(target), fixed(1)));
      return { cost: times(text, scale(sizeOf(args[0]), REGEX_LENGTH)) };
    },
  ],
  [
    "matches",
    (target, args) => {
      if (target !== undefined || args.length !== 2) return undefined;
      const text = traversal(plus(sizeOf(args[0]), fixed(1)));
      return { cost: times(text, scale(sizeOf(args[1]), REGEX_LENGTH)) };
    },
  ],
  ["contains_string", (target, args) => ({ cost: times(traversal(sizeOf(target)), traversal(sizeOf(args[0]))) })],
  [
    "string_to_bytes",
    (_, args) => {
      const size = sizeOf(args[0]);
      return {
        cost: traversal(size),
        size: { min: size.min, max: wrapped(BigInt(size.max) * 4n) },
      };
    },
  ],
  [
    "bytes_to_string",
    (_, args) => {
      const size = sizeOf(args[0]);
      return { cost: traversal(size), size: { min: Math.floor(Number(size.min) / 4), max: size.max } };
    },
  ],
  ["add_string", joining],
  ["add_bytes", joining],
  ["add_list", (_, args) => ({ cost: fixed(1), size: plus(sizeOf(args[0]), sizeOf(args[1])) })],
  ["equals", comparison],
  ["not_equals", comparison],
  ...["less", "less_equals", "greater", "greater_equals"].flatMap((name): [string, Estimate][] => [
    [`${name}_string`, comparison],
    [`${name}_bytes`, comparison],
  ]),
]);

/** The estimate for an overload of the standard library, without its arguments. Undefined if it is 1. */
export function standardEstimate(
  id: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
): CallEstimate | undefined {
  return estimates.get(id)?.(target, args);
}
