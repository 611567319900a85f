import { containment, matching, sizeOf, traversal } from "../cost/runtime.ts";
import { standardMacros } from "../parser/macros.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  paramType,
  stringType,
  type Type,
  timestampType,
  typeOf,
  typeType,
  uintType,
} from "../values/types.ts";
import { Bytes, ListValue, MapValue, NO_SUCH_OVERLOAD, TypeValue, type Value } from "../values/value.ts";
import { conversionFunctions } from "./conversions.ts";
import type { FunctionDeclaration, Library, Overload } from "./library.ts";
import { lacks, operatorFunctions } from "./operators.ts";
import { matcherOf, matches } from "./regular-expressions.ts";
import { timeFunctions } from "./time-functions.ts";

const listOfA = listType(paramType("A"));
const mapOfAB = mapType(paramType("A"), paramType("B"));

const SIZED: readonly (readonly [string, Type])[] = [
  ["bytes", bytesType],
  ["list", listOfA],
  ["map", mapOfAB],
  ["string", stringType],
];

const isSized = (value: Value) =>
  typeof value === "string" || value instanceof ListValue || value instanceof MapValue || value instanceof Bytes;

const size: FunctionDeclaration = {
  name: "size",
  overloads: SIZED.flatMap(([name, type]): Overload[] => [
    { id: `size_${name}`, args: [type], result: intType },
    { id: `${name}_size`, args: [type], result: intType, isMember: true },
  ]),
  call: (value: Value) => (isSized(value) ? sizeOf(value) : lacks("size", value)),
};

type Test = (text: string, part: string) => Value;

const textFunction = (name: string, id: string, test: Test, cost: Overload["cost"]): FunctionDeclaration => ({
  name,
  overloads: [{ id, args: [stringType, stringType], result: boolType, isMember: true, ...(cost && { cost }) }],
  call: (text: Value, part: Value) =>
    typeof text === "string" && typeof part === "string" ? test(text, part) : NO_SUCH_OVERLOAD,
});

const ofSecond: Overload["cost"] = (args) => traversal(args[1] as Value);

const matchesFunction: FunctionDeclaration = {
  name: "matches",
  overloads: [
    { id: "matches", args: [stringType, stringType], result: boolType },
    { id: "matches_string", args: [stringType, stringType], result: boolType, isMember: true },
  ],
  call(text: Value, pattern: Value) {
    if (typeof text !== "string") return lacks("matches", text);
    return typeof pattern === "string" ? matches(text, pattern) : NO_SUCH_OVERLOAD;
  },
  cost: matching,
  pattern: 1,
  bindPattern: matcherOf,
};

const namedTypes: readonly Type[] = [
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType(dynType),
  mapType(dynType, dynType),
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
];

/** The functions, operators, types and macros of the language. */
export const standardLibrary: Library = {
  name: "standard",
  macros: standardMacros,
  constants: namedTypes.map((type) => ({ name: type.name, type: typeOf(type), value: new TypeValue(type) })),
  functions: [
    ...operatorFunctions,
    ...conversionFunctions,
    size,
    textFunction("contains", "contains_string", (text, part) => text.includes(part), containment),
    textFunction("endsWith", "ends_with_string", (text, part) => text.endsWith(part), ofSecond),
    textFunction("startsWith", "starts_with_string", (text, part) => text.startsWith(part), ofSecond),
    matchesFunction,
    ...timeFunctions,
  ],
};
