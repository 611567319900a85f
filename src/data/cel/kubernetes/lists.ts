import { spend } from "../cost/work.ts";
import type { Library, Overload } from "../standard/library.ts";
import { add } from "../values/arithmetic.ts";
import { compare, ownEquality } from "../values/equality.ts";
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
import { CelError, Double, Duration, ListValue, NO_SUCH_OVERLOAD, Uint, type Value } from "../values/value.ts";
import { declare, declareAll, member } from "./declare.ts";

const A = paramType("A");

/** The types that can be ordered, with their names in overload ids. */
const COMPARABLE: readonly (readonly [string, Type])[] = [
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["bool", boolType],
  ["duration", durationType],
  ["timestamp", timestampType],
  ["string", stringType],
  ["bytes", bytesType],
];

const SUMMABLE: readonly (readonly [string, Type, Value])[] = [
  ["int", intType, 0],
  ["uint", uintType, new Uint(0n)],
  ["double", doubleType, new Double(0)],
  ["duration", durationType, new Duration(0n)],
];

const comparable = (make: (name: string, type: Type) => Overload) => COMPARABLE.map(([name, type]) => make(name, type));

function isSorted(list: ListValue): Value {
  spend(list.size);
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i);
    if (item instanceof CelError) return item;
    if (i > 0 && compare(list.at(i - 1), item) === 1) return false;
  }
  return true;
}

function sum(list: ListValue, zero: Value): Value {
  let total = zero;
  spend(list.size);
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i);
    if (item instanceof CelError) return item;
    total = add(total, item);
    if (total instanceof CelError) return total;
  }
  return total;
}

/** The minimum or maximum of a list. */
function extreme(name: string, list: ListValue, replacedBy: number): Value {
  let result: Value | undefined;
  spend(list.size);
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i);
    if (item instanceof CelError) return item;
    if (result === undefined || compare(result, item) === replacedBy) result = item;
  }
  return result ?? (list.size === 0 ? new CelError(`${name} called on empty list`) : NO_SUCH_OVERLOAD);
}

function indexOf(list: ListValue, item: Value): Value {
  spend(list.size);
  for (let i = 0; i < list.size; i++) if (ownEquality(list.at(i), item) === true) return i;
  return -1;
}

function lastIndexOf(list: ListValue, item: Value): Value {
  spend(list.size);
  for (let i = list.size - 1; i >= 0; i--) if (ownEquality(list.at(i), item) === true) return i;
  return -1;
}

const includes = (target: Value, item: Value): Value =>
  target instanceof ListValue ? indexOf(target, item) !== -1 : ownEquality(target, item) === true;

/** kubernetes.lists: isSorted, sum, min, max, indexOf, lastIndexOf. */
export const listsLibrary: Library = {
  name: "kubernetes.lists",
  functions: [
    declareAll(
      "isSorted",
      comparable((name, type) => member(`list_${name}_is_sorted_bool`, [listType(type)], boolType, isSorted)),
    ),
    declareAll(
      "sum",
      SUMMABLE.map(([name, type, zero]) =>
        member(`list_${name}_sum_${name}`, [listType(type)], type, (list: ListValue) => sum(list, zero)),
      ),
    ),
    declareAll(
      "max",
      comparable((name, type) =>
        member(`list_${name}_max_${name}`, [listType(type)], type, (list: ListValue) => extreme("max", list, -1)),
      ),
    ),
    declareAll(
      "min",
      comparable((name, type) =>
        member(`list_${name}_min_${name}`, [listType(type)], type, (list: ListValue) => extreme("min", list, 1)),
      ),
    ),
    declare("indexOf", member("list_a_index_of_int", [listType(A), A], intType, indexOf)),
    declare("lastIndexOf", member("list_a_last_index_of_int", [listType(A), A], intType, lastIndexOf)),
  ],
};

/** kubernetes.lists of 1.37, which also has includes(). */
export const listsLibraryWithIncludes: Library = {
  name: "kubernetes.lists",
  functions: [
    ...(listsLibrary.functions ?? []),
    declare("includes", member("list_includes_dyn_dyn", [dynType, dynType], boolType, includes)),
  ],
};
