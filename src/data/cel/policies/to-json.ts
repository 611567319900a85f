import type { Json, JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { ExactInteger } from "../../../base/util/exact-integer.ts";
import { setMember } from "../../../base/util/members.ts";
import { currentMeter, type Meter, UNITS_PER_ADDED_VALUE } from "../../../base/util/meter.ts";
import { formatDuration, formatTimestamp } from "../values/time.ts";
import {
  Bytes,
  CelError,
  Double,
  Duration,
  ListValue,
  MapValue,
  Timestamp,
  typeOfValue,
  Uint,
  type Value,
} from "../values/value.ts";
import { ObjectValue } from "./object-types.ts";

/**
 * Converts a CEL value to JSON. An error if JSON cannot represent it. Throws TooCostly: a list of one value many times is cheap
 * in CEL. Upstream: `convertField`.
 */
export function toJson(value: Value, meter: Meter = currentMeter()): Json | CelError {
  meter.charge(UNITS_PER_ADDED_VALUE);
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number") {
    return value;
  }
  if (typeof value === "bigint") return integerOf(value);
  if (value instanceof Double) return value.value;
  if (value instanceof Uint) return integerOf(value.value);
  if (value instanceof Bytes) return Buffer.from(value.data).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof ListValue) return listToJson(value, meter);
  if (value instanceof MapValue) return mapToJson(value, meter);
  return value instanceof CelError ? value : new CelError(`unsupported type conversion: ${typeOfValue(value).name}`);
}

function integerOf(value: bigint): Json {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (new ExactInteger(String(value)) as unknown as Json);
}

function listToJson(list: ListValue, meter: Meter): Json | CelError {
  const items: Json[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = toJson(list.at(index), meter);
    if (item instanceof CelError) return item;
    items.push(item);
  }
  return items;
}

function mapToJson(map: MapValue, meter: Meter): JsonObject | CelError {
  const members: JsonObject = {};
  for (const key of map.keys()) {
    if (typeof key !== "string") return new CelError(`map key is of type ${typeOfValue(key).name}, not string`);
    const member = toJson(map.find(key) as Value, meter);
    if (member instanceof CelError) return member;
    setMember(members, key, member);
  }
  return members;
}

/**
 * The errors in the type names of an object and of those within it: each must be named after the path of its field,
 * without lists and maps. Upstream: `CheckTypeNamesMatchFieldPathNames`.
 */
export function typeNameErrors(value: Value, path = typeOfValue(value).name): string[] {
  if (value instanceof ObjectValue) {
    const name = value.type.name;
    const own =
      name === path
        ? []
        : [
            `unexpected type name ${quote(name)}, expected ${quote(path)}, which matches field name path from root Object type`,
          ];
    return [...own, ...[...value.fields].flatMap(([field, member]) => typeNameErrors(member, `${path}.${field}`))];
  }
  if (value instanceof ListValue) {
    return Array.from({ length: value.size }, (_, index) => typeNameErrors(value.at(index), path)).flat();
  }
  if (value instanceof MapValue)
    return [...value.keys()].flatMap((key) => typeNameErrors(value.find(key) as Value, path));
  return [];
}
