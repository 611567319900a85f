import { spend } from "../cost/work.ts";
import { operators } from "../parser/ast.ts";
import { optionalMacros } from "../parser/macros.ts";
import { formatValue } from "../values/format.ts";
import { itemsOf } from "../values/lists.ts";
import {
  boolType,
  dynType,
  intType,
  listType,
  mapType,
  optionalType,
  paramType,
  stringType,
  type Type,
  typeOf,
} from "../values/types.ts";
import {
  ArrayList,
  Bytes,
  CelError,
  Double,
  Duration,
  ListValue,
  MapValue,
  NONE,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../values/value.ts";
import type { Implementation, Library, Overload } from "./library.ts";

const K = paramType("K");
const V = paramType("V");
const optionalV = optionalType(V);
const listV = listType(V);
const mapKV = mapType(K, V);

const global = (id: string, args: readonly Type[], result: Type, call?: Implementation): Overload => ({
  id,
  args,
  result,
  ...(call && { call }),
});
const member = (id: string, args: readonly Type[], result: Type, call?: Implementation): Overload => ({
  ...global(id, args, result, call),
  isMember: true,
});

/** Go's zero time: 0001-01-01T00:00:00Z. */
const FIRST_SECOND = -62_135_596_800;

/** Whether optional.ofNonZeroValue() returns none for a value. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (value instanceof ListValue || value instanceof MapValue) return value.isZero();
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Bytes) return value.data.length === 0;
  if (value instanceof Timestamp) return value.seconds === FIRST_SECOND && value.nanos === 0;
  return value instanceof Duration && value.nanos === 0n;
}

function unwrapAll(list: ListValue): Value {
  const values: Value[] = [];
  spend(list.size);
  for (const item of itemsOf(list)) {
    if (!(item instanceof Optional)) return new CelError(`value ${formatValue(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

const elementOf = (list: ListValue, index: number) => (list.size === 0 ? NONE : new Optional(list.at(index)));
const content = ({ value }: Optional) => (value === undefined ? new CelError("optional.none() dereference") : value);

/** Optional values: x.?y, x[?y], optional.of(x) and their functions. */
export const optionalLibrary: Library = {
  name: "optional",
  macros: optionalMacros,
  constants: [
    { name: "optional_type", type: typeOf(optionalType(dynType)), value: new TypeValue(optionalType(dynType)) },
  ],
  functions: [
    { name: "optional.of", overloads: [global("optional_of", [V], optionalV, (value: Value) => new Optional(value))] },
    {
      name: "optional.ofNonZeroValue",
      overloads: [
        global("optional_ofNonZeroValue", [V], optionalV, (value: Value) =>
          isZero(value) ? NONE : new Optional(value),
        ),
      ],
    },
    { name: "optional.none", overloads: [global("optional_none", [], optionalV, () => NONE)] },
    { name: "value", overloads: [member("optional_value", [optionalV], V, content)] },
    {
      name: "hasValue",
      overloads: [member("optional_hasValue", [optionalV], boolType, ({ value }: Optional) => value !== undefined)],
    },
    { name: "or", overloads: [member("optional_or_optional", [optionalV, optionalV], optionalV)] },
    { name: "orValue", overloads: [member("optional_orValue_value", [optionalV, V], V)] },
    { name: operators.optSelect, overloads: [global("select_optional_field", [dynType, stringType], optionalV)] },
    {
      name: operators.optIndex,
      overloads: [
        global("list_optindex_optional_int", [listV, intType], optionalV),
        global("optional_list_optindex_optional_int", [optionalType(listV), intType], optionalV),
        global("map_optindex_optional_value", [mapKV, K], optionalV),
        global("optional_map_optindex_optional_value", [optionalType(mapKV), K], optionalV),
      ],
    },
    {
      name: operators.index,
      overloads: [
        global("optional_list_index_int", [optionalType(listV), intType], optionalV),
        global("optional_map_index_value", [optionalType(mapKV), K], optionalV),
      ],
    },
    {
      name: "last",
      overloads: [member("list_last", [listV], optionalV, (list: ListValue) => elementOf(list, list.size - 1))],
    },
    { name: "first", overloads: [member("list_first", [listV], optionalV, (list: ListValue) => elementOf(list, 0))] },
    { name: "optional.unwrap", overloads: [global("optional_unwrap", [listType(optionalV)], listV, unwrapAll)] },
    { name: "unwrapOpt", overloads: [member("optional_unwrapOpt", [listType(optionalV)], listV, unwrapAll)] },
  ],
};
