import { sizeOf } from "../cost/runtime.ts";
import {
  type Amount,
  type CallEstimate,
  type CostNode,
  fixed,
  LIST_CREATE,
  plus,
  type Range,
  STRING_TRAVERSAL,
  scale,
  times,
  UNBOUNDED,
  wrapped,
} from "../cost/sizes.ts";
import { spend } from "../cost/work.ts";
import { goTypeOf } from "../eval/qualifier.ts";
import type { Expr } from "../parser/ast.ts";
import type { Macro } from "../parser/macro.ts";
import { standardMacros } from "../parser/macros.ts";
import type { Library, Overload, RuntimeCost, StaticCost } from "../standard/library.ts";
import { lacks } from "../standard/operators.ts";
import { compare, ownEquality } from "../values/equality.ts";
import { itemsOf } from "../values/lists.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  paramType,
  stringType,
  type Type,
  timestampType,
  uintType,
} from "../values/types.ts";
import {
  ArrayList,
  Bytes,
  CelError,
  InternalError,
  isInt,
  ListValue,
  typeOfValue,
  type Value,
} from "../values/value.ts";
import { global, member } from "./declare.ts";

type Int = number | bigint;

const T = paramType("T");
const list = listType(T);
const COMPARABLE: readonly Type[] = [
  intType,
  uintType,
  doubleType,
  boolType,
  durationType,
  timestampType,
  stringType,
  bytesType,
];

const MAX_RANGE = 1_000_000;

function slice(values: ListValue, start: Int, end: Int): Value {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (values.size < end) return new CelError(`${call}, list is length ${values.size}`);
  const result: Value[] = [];
  spend(Number(end) - Number(start));
  for (let i = Number(start); i < end; i++) result.push(values.at(i));
  return new ArrayList(result);
}

/**
 * Compat: with DisableTypeGuards(true), a list that is already flat, or that does not contain only lists, is not
 * changed.
 */
function flatten(values: Value, depth?: Value): Value {
  const types = depth === undefined ? "" : typeOfValue(depth).name;
  if (!(values instanceof ListValue) || (depth !== undefined && !isInt(depth))) {
    return new CelError(`no such overload: ${typeOfValue(values).name}.flatten(${types})`);
  }
  return flattenTo(values, depth ?? 1);
}

function flattenTo(values: ListValue, depth: Int): Value {
  if (depth < 0) return new CelError("level must be non-negative");
  const result: Value[] = [];
  flattenInto(result, values, depth);
  return new ArrayList(result);
}

function flattenInto(result: Value[], values: ListValue, depth: Int): void {
  spend(values.size);
  for (const value of itemsOf(values)) {
    if (value instanceof ListValue && depth > 0) flattenInto(result, value, Number(depth) - 1);
    else result.push(value);
  }
}

function range(count: Int): Value {
  if (count < 0) return new CelError(`lists.range: size must be non-negative, got ${count}`);
  if (count > MAX_RANGE) return new CelError(`lists.range: size ${count} exceeds maximum allowed (${MAX_RANGE})`);
  spend(Number(count));
  return new ArrayList(Array.from({ length: Number(count) }, (_, i) => i));
}

function distinct(values: ListValue): Value {
  const result: Value[] = [];
  for (const value of itemsOf(values)) {
    spend(1 + result.length / 4);
    if (!result.some((known) => ownEquality(value, known) === true)) result.push(value);
  }
  return new ArrayList(result);
}

function reverse(values: ListValue): Value {
  spend(values.size);
  return new ArrayList([...itemsOf(values)].reverse());
}

function sortBy(values: ListValue, keys: ListValue): Value {
  if (values.size === 0) return values;
  const items = itemsOf(keys);
  const [first] = items as readonly [Value];
  const { name } = typeOfValue(first);
  if (typeof compare(first, first) !== "number") return new CelError("list elements must be comparable");
  if (items.length > 1 && items.some((item) => typeOfValue(item).name !== name)) {
    return new CelError("list elements must have the same type");
  }
  spend(items.length * Math.ceil(Math.log2(items.length + 1)));
  const order = items.map((_, i) => i);
  order.sort((a, b) => {
    const result = compare(items[a] as Value, items[b] as Value);
    return typeof result === "number" ? result : 0;
  });
  return new ArrayList(order.map((index) => values.at(index)));
}

const allocating = (factor: number, size: Range): CallEstimate => ({
  cost: plus(scale(size, factor), fixed(1 + LIST_CREATE)),
  size,
});
const allocated = (factor: number, size: number) => Math.floor(size * (factor < 0 ? 1 : factor)) + 1 + LIST_CREATE;

const ofOutput: RuntimeCost = (_, result) => allocated(1, sizeOf(result));
const ofFlattened: RuntimeCost = ([values, depth = 1]) => {
  // Compat: trackListFlatten asserts the type of the depth, even if it is an error.
  if (!isInt(depth)) throw new InternalError(`interface conversion: ref.Val is ${goTypeOf(depth)}, not types.Int`);
  return allocated(Number(depth), sizeOf(values as Value));
};

/** The types whose Go implementation has a method for `+`. */
const ADDERS = new Set<unknown>(["string", "int", "uint", "double", "bytes", durationType.name, timestampType.name]);

/**
 * Compat: trackListDistinct, trackListSort and trackListSortBy assert that the value is a list, even if it is an error.
 */
function notList(value: Value): InternalError {
  const method = ADDERS.has(typeOfValue(value).name) ? "Contains" : "Add";
  return new InternalError(`interface conversion: ${goTypeOf(value)} is not traits.Lister: missing method ${method}`);
}

const ofComparisons =
  (index: number): RuntimeCost =>
  (args) => {
    const values = args[index] as Value;
    if (!(values instanceof ListValue)) throw notList(values);
    const { size } = values;
    if (size === 0) return allocated(2, 0);
    const first = values.at(0);
    const isText = typeof first === "string" || first instanceof Bytes;
    return allocated(isText ? 2 + STRING_TRAVERSAL : 2, size * size);
  };

/** The value of an integer literal. `otherwise` for any other expression. */
function literal(expr: Expr | undefined, otherwise: Amount): Amount {
  if (expr?.kind !== "literal" || (typeof expr.value !== "number" && typeof expr.value !== "bigint")) return otherwise;
  return expr.value < 0 ? 0 : expr.value;
}

const sliceEstimate: StaticCost = (estimator, target, [start, end]) => {
  if (target === undefined) return undefined;
  const from = literal(start?.expr, 0);
  const to = literal(end?.expr, estimator.sizeOf(target).max);
  // Compat: in `estimateListSlice`, a uint64 wraps around below zero.
  return allocating(1, fixed(wrapped(BigInt(to) - BigInt(from))));
};

const sortEstimate =
  (type: Type, isByKeys: boolean): StaticCost =>
  (estimator, target, args) => {
    const values = isByKeys ? args[0] : target;
    if (values === undefined) return undefined;
    const size = estimator.sizeOf(values);
    return allocating(type === stringType || type === bytesType ? 2 + STRING_TRAVERSAL : 2, times(size, size));
  };

const ofTarget =
  (estimate: (size: Range, args: readonly CostNode[]) => CallEstimate): StaticCost =>
  (estimator, target, args) =>
    target && estimate(estimator.sizeOf(target), args);

const sorting = (isByKeys: boolean): Overload[] =>
  COMPARABLE.map((type) => ({
    id: `list_${type.name}_${isByKeys ? "sortByAssociatedKeys" : "sort"}`,
    args: isByKeys ? [list, listType(type)] : [listType(type)],
    result: isByKeys ? list : listType(type),
    isMember: true,
    cost: ofComparisons(isByKeys ? 1 : 0),
    estimate: sortEstimate(type, isByKeys),
  }));

const SORT_BY_KEYS = "@sortByAssociatedKeys";
const INPUT = "@__sortBy_input__";
const SORTED_KINDS = new Set(["list", "select", "ident", "comprehension", "call"]);

const mapMacro = standardMacros.find(({ name, args }) => name === "map" && args === 2) as Macro;

const sortByMacro: Macro = {
  name: "sortBy",
  args: 2,
  isMember: true,
  expand(build, args, target) {
    if (!SORTED_KINDS.has(target.kind)) {
      const message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
      return { at: target.at, message };
    }
    const keys = mapMacro.expand(build, args, build.ident(INPUT));
    if (keys === undefined || "message" in keys) return keys;
    return build.fold({
      range: build.list(),
      iterVar: "#unused",
      accuVar: INPUT,
      accuInit: target,
      condition: build.literal(false),
      step: build.ident(INPUT),
      result: build.memberCall(SORT_BY_KEYS, build.ident(INPUT), keys),
    });
  },
};

/** cel.lib.ext.lists, version 3: slice, flatten, lists.range, distinct, reverse, sort, sortBy. */
export const listExtensionsLibrary: Library = {
  name: "cel.lib.ext.lists",
  macros: [sortByMacro],
  functions: [
    {
      name: "slice",
      overloads: [
        { ...member("list_slice", [list, intType, intType], list, slice), cost: ofOutput, estimate: sliceEstimate },
      ],
    },
    {
      name: "flatten",
      call: flatten,
      overloads: [
        {
          ...member("list_flatten", [listType(list)], list, flatten),
          cost: ofFlattened,
          estimate: ofTarget((size) => allocating(1, size)),
        },
        {
          ...member("list_flatten_int", [listType(dynType), intType], listType(dynType), flatten),
          cost: ofFlattened,
          estimate: ofTarget((size, [depth]) => allocating(Number(literal(depth?.expr, UNBOUNDED)), size)),
        },
      ],
    },
    {
      name: "lists.range",
      overloads: [
        {
          ...global("lists_range", [intType], listType(intType), range),
          cost: ofOutput,
          estimate: (_, __, [count]) => allocating(1, fixed(literal(count?.expr, UNBOUNDED))),
        },
      ],
    },
    {
      name: "reverse",
      overloads: [
        {
          ...member("list_reverse", [list], list, reverse),
          cost: ofOutput,
          estimate: ofTarget((size) => allocating(1, size)),
        },
      ],
    },
    {
      name: "distinct",
      overloads: [
        {
          ...member("list_distinct", [list], list, distinct),
          cost: ofComparisons(0),
          estimate: ofTarget((size) => allocating(2, times(size, size))),
        },
      ],
    },
    {
      name: "sort",
      overloads: sorting(false),
      call: (values: Value) => (values instanceof ListValue ? sortBy(values, values) : lacks("sort", values)),
    },
    {
      name: SORT_BY_KEYS,
      overloads: sorting(true),
      call: (values: Value, keys: ListValue) =>
        values instanceof ListValue ? sortBy(values, keys) : lacks(SORT_BY_KEYS, values),
    },
  ],
};
