import { comparison, joining } from "../cost/runtime.ts";
import { operators } from "../parser/ast.ts";
import { add, divide, modulo, multiply, negate, subtract } from "../values/arithmetic.ts";
import { compare, contains } from "../values/equality.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  paramType,
  stringType,
  type Type,
  timestampType,
  uintType,
} from "../values/types.ts";
import {
  CelError,
  Duration,
  isError,
  ListValue,
  MapValue,
  NO_SUCH_OVERLOAD,
  Timestamp,
  typeOfValue,
  type Value,
} from "../values/value.ts";
import type { FunctionDeclaration, Overload, RuntimeCost } from "./library.ts";

const A = paramType("A");
const B = paramType("B");
const listOfA = listType(A);
const mapOfAB = mapType(A, B);

const overload = (id: string, args: readonly Type[], result: Type, cost?: RuntimeCost): Overload => ({
  id,
  args,
  result,
  ...(cost && { cost }),
});

/** Types that can be ordered, with their names in overload ids. */
const ORDERED: readonly (readonly [string, Type, Type])[] = [
  ["bool", boolType, boolType],
  ["int64", intType, intType],
  ["int64_double", intType, doubleType],
  ["int64_uint64", intType, uintType],
  ["uint64", uintType, uintType],
  ["uint64_double", uintType, doubleType],
  ["uint64_int64", uintType, intType],
  ["double", doubleType, doubleType],
  ["double_int64", doubleType, intType],
  ["double_uint64", doubleType, uintType],
  ["string", stringType, stringType],
  ["bytes", bytesType, bytesType],
  ["timestamp", timestampType, timestampType],
  ["duration", durationType, durationType],
];

const COMPARABLE = [boolType, bytesType, doubleType, durationType, intType, stringType, timestampType, uintType];

function relation(name: string, prefix: string, holds: (order: number) => boolean): FunctionDeclaration {
  return {
    name,
    overloads: ORDERED.map(([id, a, b]) => {
      const isLong = a === stringType || a === bytesType;
      return overload(`${prefix}_${id}`, [a, b], boolType, isLong ? comparison : undefined);
    }),
    call: operator(name, COMPARABLE, (a, b) => {
      const order = compare(a, b);
      return typeof order === "number" ? holds(order) : order;
    }),
  };
}

const same = (id: string, type: Type, cost?: RuntimeCost) => overload(id, [type, type], type, cost);

function isIn(element: Value, container: Value): Value {
  if (container instanceof ListValue) return contains(container, element);
  if (!(container instanceof MapValue)) return NO_SUCH_OVERLOAD;
  const found = container.find(element);
  return found !== undefined && isError(found) ? found : found !== undefined;
}

/** The error of a first operand of an unsupported type. Some types have a general error for all functions. */
export function lacks(name: string, value: Value): CelError {
  const isReceiver = typeof value === "string" || value instanceof Duration || value instanceof Timestamp;
  return isReceiver ? NO_SUCH_OVERLOAD : new CelError(`no such overload: ${name}`);
}

type Binary = (a: Value, b: Value) => Value;

/** An operator for first operands of these types. The error for other types contains the operator. */
const operator =
  (name: string, types: readonly Type[], call: Binary): Binary =>
  (a, b) => {
    const result = call(a, b);
    if (result !== NO_SUCH_OVERLOAD) return result;
    const actual = typeOfValue(a);
    return types.some((type) => type.name === actual.name) ? result : lacks(name, a);
  };

/** Operators. The planner implements &&, ||, ?:, ==, != and indices itself; the checker needs their declarations. */
export const operatorFunctions: readonly FunctionDeclaration[] = [
  { name: operators.conditional, overloads: [overload("conditional", [boolType, A, A], A)] },
  { name: operators.and, overloads: [overload("logical_and", [boolType, boolType], boolType)] },
  { name: operators.or, overloads: [overload("logical_or", [boolType, boolType], boolType)] },
  {
    name: operators.not,
    overloads: [overload("logical_not", [boolType], boolType)],
    call: (value: Value) => (typeof value === "boolean" ? !value : NO_SUCH_OVERLOAD),
  },
  { name: operators.notStrictlyFalse, overloads: [overload("not_strictly_false", [boolType], boolType)] },
  { name: operators.equals, overloads: [overload("equals", [A, A], boolType)] },
  { name: operators.notEquals, overloads: [overload("not_equals", [A, A], boolType)] },
  {
    name: operators.add,
    overloads: [
      same("add_bytes", bytesType, joining),
      same("add_double", doubleType),
      same("add_duration_duration", durationType),
      overload("add_duration_timestamp", [durationType, timestampType], timestampType),
      overload("add_timestamp_duration", [timestampType, durationType], timestampType),
      same("add_int64", intType),
      same("add_list", listOfA),
      same("add_string", stringType, joining),
      same("add_uint64", uintType),
    ],
    call: operator(
      operators.add,
      [bytesType, doubleType, durationType, intType, listOfA, stringType, timestampType, uintType],
      add,
    ),
  },
  {
    name: operators.divide,
    overloads: [same("divide_double", doubleType), same("divide_int64", intType), same("divide_uint64", uintType)],
    call: operator(operators.divide, [doubleType, intType, uintType], divide),
  },
  {
    name: operators.modulo,
    overloads: [same("modulo_int64", intType), same("modulo_uint64", uintType)],
    call: operator(operators.modulo, [intType, uintType], modulo),
  },
  {
    name: operators.multiply,
    overloads: [
      same("multiply_double", doubleType),
      same("multiply_int64", intType),
      same("multiply_uint64", uintType),
    ],
    call: operator(operators.multiply, [doubleType, intType, uintType], multiply),
  },
  {
    name: operators.negate,
    overloads: [overload("negate_double", [doubleType], doubleType), overload("negate_int64", [intType], intType)],
    call: operator(operators.negate, [boolType, doubleType, durationType, intType], negate),
  },
  {
    name: operators.subtract,
    overloads: [
      same("subtract_double", doubleType),
      same("subtract_duration_duration", durationType),
      same("subtract_int64", intType),
      overload("subtract_timestamp_duration", [timestampType, durationType], timestampType),
      overload("subtract_timestamp_timestamp", [timestampType, timestampType], durationType),
      same("subtract_uint64", uintType),
    ],
    call: operator(operators.subtract, [doubleType, durationType, intType, timestampType, uintType], subtract),
  },
  relation(operators.less, "less", (order) => order < 0),
  relation(operators.lessEquals, "less_equals", (order) => order <= 0),
  relation(operators.greater, "greater", (order) => order > 0),
  relation(operators.greaterEquals, "greater_equals", (order) => order >= 0),
  {
    name: operators.index,
    overloads: [overload("index_list", [listOfA, intType], A), overload("index_map", [mapOfAB, A], B)],
  },
  {
    name: operators.in,
    overloads: [
      overload("in_list", [A, listOfA], boolType, (args) => (args[1] instanceof ListValue ? args[1].size : 1)),
      overload("in_map", [A, mapOfAB], boolType),
    ],
    call: isIn,
  },
];
