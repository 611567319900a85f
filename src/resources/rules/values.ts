import type { Json } from "../../api/object.ts";
import { equal } from "../../cel/values/equality.ts";
import { parseDuration, parseTimestamp } from "../../cel/values/time.ts";
import { opaqueType } from "../../cel/values/types.ts";
import {
  ArrayList,
  Bytes,
  CelError,
  Double,
  Foreign,
  intOf,
  ListValue,
  MapValue,
  NO_SUCH_OVERLOAD,
  type Value,
} from "../../cel/values/value.ts";
import { isExactInteger } from "../../lib/exact-integer.ts";
import { getMember } from "../../lib/members.ts";
import type { Schema } from "../../schema/schema.ts";
import { isMembers } from "../../schema/structural/findings.ts";
import { printSorted, typeOfValue } from "../../schema/structural/kinds-of-values.ts";
import { propertiesOf, withTypeMeta } from "./declared-type.ts";
import { escapeName, unescapeName } from "./escaping.ts";

/** A value of a schema as expressions see it. Upstream: `UnstructuredToVal`. */
export function celValue(json: Json, schema: Schema): Value {
  if (json === null) {
    return schema.nullable ? null : new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema.intOrString) {
    if (typeof json === "string") return json;
    const message = "invalid data, expected XIntOrString value to be either a string or integer";
    return typeOfValue(json) === "integer" ? integerOf(json) : new CelError(message);
  }
  switch (schema.type) {
    case "object":
      return isMembers(json)
        ? new SchemaMap(json, schema.embeddedResource ? withTypeMeta(schema) : schema)
        : wrong("a map for the provided schema with type=object");
    case "array":
      return Array.isArray(json) ? listOf(json, schema) : wrong("an array for the provided schema with type=array");
    case "string":
      return typeof json === "string" ? textOf(json, schema) : wrong(`string, got ${goType(json)}`);
    case "number":
      return typeof json === "number" || isExactInteger(json)
        ? new Double(Number(json))
        : wrong(`float, got ${goType(json)}`);
    case "integer":
      return typeOfValue(json) === "integer" ? integerOf(json) : wrong(`int, got ${goType(json)}`);
    case "boolean":
      return typeof json === "boolean" ? json : wrong(`bool, got ${goType(json)}`);
    default:
      return new Preserved(json);
  }
}

const wrong = (what: string) => new CelError(`invalid data, expected ${what}`);

const integerOf = (json: Json): Value => (typeof json === "number" ? json : intOf(BigInt(String(json))));

const GO_TYPES: ReadonlyMap<string, string> = new Map([
  ["boolean", "bool"],
  ["string", "string"],
  ["integer", "int64"],
  ["number", "float64"],
  ["array", "[]interface {}"],
  ["object", "map[string]interface {}"],
]);
const goType = (json: Json) => GO_TYPES.get(typeOfValue(json)) ?? "<nil>";

function textOf(text: string, { format }: Schema): Value {
  switch (format) {
    case "duration":
      return parseDuration(text) ?? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    case "date":
      return parseTimestamp(`${text}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${text}`);
    case "date-time":
      return parseTimestamp(text) ?? new CelError(`Invalid date-time formatted string ${text}`);
    case "byte":
      return new Bytes(Buffer.from(text, "base64url"));
    default:
      return text;
  }
}

/** What x-kubernetes-preserve-unknown-fields keeps without a type; it can only be compared. */
class Preserved extends Foreign {
  readonly json: Json;
  constructor(json: Json) {
    super();
    this.json = json;
  }
  get type() {
    return unknownType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Preserved && printSorted(this.json) === printSorted(other.json);
  }
}

const unknownType = opaqueType("unknown");

/** An object or map. Members without a schema count, and are equal or not, but cannot be read. */
class SchemaMap extends MapValue {
  readonly #members: { readonly [member: string]: Json };
  readonly #schema: Schema;
  readonly #properties: ReadonlyMap<string, Schema> | undefined;
  readonly size: number;

  constructor(members: { readonly [member: string]: Json }, schema: Schema) {
    super();
    this.#members = members;
    this.#schema = schema;
    this.#properties = propertiesOf(schema);
    this.size = Object.keys(members).length;
  }

  #schemaOf(name: string): Schema | undefined {
    if (this.#properties !== undefined) return this.#properties.get(name);
    const { values } = this.#schema;
    return values === true ? undefined : values;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== "string") return key instanceof CelError ? key : NO_SUCH_OVERLOAD;
    const name = this.#properties === undefined ? key : unescapeName(key);
    if (name === undefined) return undefined;
    const json = getMember(this.#members, name);
    if (json === undefined || (json === null && this.#properties !== undefined)) return undefined;
    const schema = this.#schemaOf(name);
    return schema === undefined ? undefined : celValue(json, schema);
  }

  *keys(): Iterable<Value> {
    for (const name of Object.keys(this.#members)) {
      if (this.#schemaOf(name) === undefined) continue;
      yield this.#properties === undefined ? name : (escapeName(name) ?? name);
    }
  }

  override equals(other: MapValue): boolean {
    if (this.size !== other.size) return false;
    for (const [name, json] of Object.entries(this.#members)) {
      if (this.#schemaOf(name) === undefined) {
        const same = other instanceof SchemaMap ? getMember(other.#members, name) : undefined;
        if (same !== undefined && printSorted(same) !== printSorted(json)) return false;
        continue;
      }
      const mine = this.find(name);
      const its = other.find(name);
      if (mine === undefined || its === undefined) {
        if (mine !== its) return false;
      } else if (!equal(mine, its)) return false;
    }
    return true;
  }
}

class SchemaList extends ListValue {
  readonly #items: readonly Json[];
  readonly #schema: Schema;

  constructor(items: readonly Json[], schema: Schema) {
    super();
    this.#items = items;
    this.#schema = schema;
  }
  get size(): number {
    return this.#items.length;
  }
  at(index: number): Value {
    return celValue(this.#items[index] as Json, this.#schema);
  }
}

/** A list whose order does not count. `keyOf` tells which elements are the same. */
abstract class KeyedList extends SchemaList {
  /** What two elements have in common that are the same one. */
  abstract isSame(a: Value, b: Value): boolean;

  override equals(other: ListValue): boolean {
    if (this.size !== other.size) return false;
    for (let i = 0; i < other.size; i++) {
      const item = other.at(i);
      if (!this.#has(item)) return false;
    }
    for (let i = 0; i < this.size; i++) {
      const item = this.at(i);
      let isFound = false;
      for (let j = 0; j < other.size && !isFound; j++) isFound = this.isSame(item, other.at(j));
      if (!isFound) return false;
    }
    return true;
  }

  #has(item: Value): boolean {
    for (let i = 0; i < this.size; i++) {
      const mine = this.at(i);
      if (this.isSame(mine, item)) return equal(mine, item);
    }
    return false;
  }

  /** `+`: what is there already is replaced in its place, the rest comes after. */
  override concat(other: ListValue): Value {
    const items: Value[] = Array.from({ length: this.size }, (_, i) => this.at(i));
    for (let i = 0; i < other.size; i++) {
      const item = other.at(i);
      const at = items.findIndex((mine) => this.isSame(mine, item));
      if (at < 0) items.push(item);
      else items[at] = item;
    }
    return new ArrayList(items);
  }
}

class SetList extends KeyedList {
  isSame(a: Value, b: Value): boolean {
    return equal(a, b);
  }
}

class MapList extends KeyedList {
  readonly #keys: readonly string[];
  constructor(items: readonly Json[], schema: Schema, keys: readonly string[]) {
    super(items, schema);
    this.#keys = keys.map((key) => escapeName(key) ?? key);
  }
  isSame(a: Value, b: Value): boolean {
    if (!(a instanceof MapValue) || !(b instanceof MapValue)) return false;
    return this.#keys.every((key) => {
      const [x, y] = [a.find(key), b.find(key)];
      return x === undefined || y === undefined ? x === y : equal(x, y);
    });
  }
}

function listOf(items: readonly Json[], schema: Schema): Value {
  const { items: below, listType, listMapKeys = [] } = schema;
  if (below === undefined) return new CelError("invalid array type, expected Items with a non-empty Schema");
  if (listType === "map") return new MapList(items, below, listMapKeys);
  return listType === "set" ? new SetList(items, below) : new SchemaList(items, below);
}
