import { bindMacro, MAP_INSERT, twoVariableMacros } from "../parser/macros.ts";
import { formatValue } from "../values/format.ts";
import { EntryMap } from "../values/maps.ts";
import { mapType, paramType } from "../values/types.ts";
import { CelError, MapValue, NO_SUCH_OVERLOAD, type Value } from "../values/value.ts";
import type { Library } from "./library.ts";

const K = paramType("K");
const V = paramType("V");
const mapKV = mapType(K, V);

/** Adds an entry to a map. */
function insert(map: MapValue, key: Value, value: Value): Value {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${formatValue(key)} already exists`);
  const grown = map instanceof EntryMap ? map.growing() : copyOf(map);
  grown.set(key, value);
  return grown;
}

function copyOf(map: MapValue): EntryMap {
  const copy = new EntryMap();
  for (const key of map.keys()) copy.set(key, map.find(key) as Value);
  return copy;
}

function insertAll(map: MapValue, added: MapValue): Value {
  let result: Value = map;
  for (const key of added.keys()) {
    result = insert(result as MapValue, key, added.find(key) as Value);
    if (result instanceof CelError) return result;
  }
  return result;
}

/** Macros with two variables: all(k, v, …), transformList(), transformMap() and others. */
export const twoVariableLibrary: Library = {
  name: "two-variable comprehensions",
  macros: twoVariableMacros,
  functions: [
    {
      name: MAP_INSERT,
      overloads: [
        { id: "@mapInsert_map_key_value", args: [mapKV, K, V], result: mapKV },
        { id: "@mapInsert_map_map", args: [mapKV, mapKV], result: mapKV },
      ],
      call: (map: Value, added: Value, value?: Value) => {
        if (!(map instanceof MapValue)) return NO_SUCH_OVERLOAD;
        if (value !== undefined) return insert(map, added, value);
        return added instanceof MapValue ? insertAll(map, added) : NO_SUCH_OVERLOAD;
      },
    },
  ],
};

/** cel.bind(name, value, result). Kubernetes' environments do not have it. */
export const bindLibrary: Library = { name: "bind", macros: [bindMacro] };
