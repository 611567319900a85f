import type { Json } from "../../base/api/object.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { getMember } from "../../base/util/members.ts";
import { spend, spendOnText } from "../../data/cel/cost/work.ts";
import { ownEquality } from "../../data/cel/values/equality.ts";
import { parseDuration, parseTimestamp } from "../../data/cel/values/time.ts";
import { opaqueType } from "../../data/cel/values/types.ts";
import {
  ArrayList,
  Bytes,
  CelError,
  Double,
  Duration,
  Foreign,
  intOf,
  ListValue,
  MapValue,
  NO_SUCH_OVERLOAD,
  noSuchOverload,
  Timestamp,
  Uint,
  type Value,
} from "../../data/cel/values/value.ts";
import { base64Problem } from "../../data/schema/decode-base64.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { isMembers } from "../../data/schema/structural/findings.ts";
import { printSorted, typeOfValue } from "../../data/schema/structural/kinds-of-values.ts";
import { propertiesOf, withTypeMeta } from "./declared-type.ts";
import { escapeName, unescapeName } from "./escaping.ts";

/** Converts a JSON value to a CEL value by its schema. Upstream: `UnstructuredToVal`. */
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
      return bytesOf(text);
    default:
      return text;
  }
}

/** Compat: `strfmt.Base64` decodes the URL alphabet, although the format is checked with that of RFC 4648. */
function bytesOf(text: string): Value {
  const problem = base64Problem(text, "url");
  return problem === undefined
    ? new Bytes(Buffer.from(text, "base64url"))
    : new CelError(`Invalid byte formatted string ${text}: ${problem.message}`);
}

/** An untyped value kept by x-kubernetes-preserve-unknown-fields. It can only be compared. */
class Preserved extends Foreign {
  readonly json: Json;
  constructor(json: Json) {
    super();
    this.json = json;
  }
  get type() {
    return unknownType;
  }
  override equalsOther(): boolean {
    return false;
  }
  equals(other: Foreign): boolean {
    if (!(other instanceof Preserved)) return false;
    const [text, its] = [printSorted(this.json), printSorted(other.json)];
    spendOnText(text, "each");
    return text === its;
  }
}

const unknownType = opaqueType("unknown");

/** Units of the meter for counting a member. V8 sorts the names of large objects. */
const UNITS_PER_NAME = 2;

/** An object or map. Members without a schema are counted and compared, but cannot be read. */
class SchemaMap extends MapValue {
  override get goType(): string {
    return "*common.unstructuredMap";
  }
  readonly #members: { readonly [member: string]: Json };
  readonly #schema: Schema;
  readonly #properties: ReadonlyMap<string, Schema> | undefined;
  #size: number | undefined;

  constructor(members: { readonly [member: string]: Json }, schema: Schema) {
    super();
    this.#members = members;
    this.#schema = schema;
    this.#properties = propertiesOf(schema);
  }

  get size(): number {
    if (this.#size === undefined) {
      this.#size = Object.keys(this.#members).length;
      spend(this.#size * UNITS_PER_NAME);
    }
    return this.#size;
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

  /** Compat: unstructuredMap is no Zeroer of cel-go. */
  override isZero(): boolean {
    return false;
  }

  *keys(): Iterable<Value> {
    spend(this.size * UNITS_PER_NAME);
    for (const name of Object.keys(this.#members)) {
      if (this.#schemaOf(name) === undefined) continue;
      yield this.#properties === undefined ? name : (escapeName(name) ?? name);
    }
  }

  override equals(other: Value): boolean | CelError {
    if (!(other instanceof MapValue)) return noSuchOverload(other);
    if (this.size !== other.size) return false;
    for (const [name, json] of Object.entries(this.#members)) {
      if (this.#schemaOf(name) === undefined) {
        if (!(other instanceof SchemaMap)) return NO_SUCH_OVERLOAD;
        const same = getMember(other.#members, name);
        if (same !== undefined && printSorted(same) !== printSorted(json)) return false;
        continue;
      }
      const mine = this.find(name);
      const its = other.find(name);
      if (mine === undefined || its === undefined) {
        if (mine !== its) return false;
      } else {
        const result = ownEquality(mine, its);
        if (result !== true) return result;
      }
    }
    return true;
  }
}

class SchemaList extends ListValue {
  override get goType(): string {
    return "*common.unstructuredList";
  }
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
  /** Compat: unstructuredList is no Zeroer of cel-go. */
  override isZero(): boolean {
    return false;
  }
  at(index: number): Value {
    return celValue(this.#items[index] as Json, this.#schema);
  }
  override equals(other: Value): boolean | CelError {
    if (!(other instanceof ListValue)) return noSuchOverload(other);
    if (this.size !== other.size) return false;
    for (let i = 0; i < this.size; i++) {
      const result = ownEquality(this.at(i), other.at(i));
      if (result !== true) return result;
    }
    return true;
  }
  override contains(value: Value): boolean | CelError {
    let failed: CelError | undefined;
    for (let i = 0; i < this.size; i++) {
      const result = ownEquality(this.at(i), value);
      if (result === true) return true;
      if (result !== false) failed ??= result;
    }
    return failed ?? false;
  }
}

/** Units of the meter for the key of an item. */
const KEY_UNITS = 10;

/** A list whose order is irrelevant. */
abstract class KeyedList extends SchemaList {
  #places: ReadonlyMap<string, number> | undefined;

  /** The identity of an element. Undefined for an element that equals no other. */
  protected abstract keyOf(item: Value): string | undefined;

  /** The position of the first element of each key. */
  #findPlaces(): ReadonlyMap<string, number> {
    this.#places ??= firstPlaces(this, (one) => this.keyOf(one));
    return this.#places;
  }

  override equals(other: Value): boolean | CelError {
    if (!(other instanceof ListValue)) return noSuchOverload(other);
    if (this.size !== other.size) return false;
    const places = this.#findPlaces();
    const found = new Set<string>();
    for (let i = 0; i < other.size; i++) {
      const item = other.at(i);
      const key = this.keyOf(item);
      const at = key === undefined ? undefined : places.get(key);
      if (key === undefined || at === undefined) return false;
      const result = ownEquality(this.at(at), item);
      if (result !== true) return result;
      found.add(key);
    }
    return found.size === places.size;
  }

  /** `+`: replaces existing elements in place and appends the others. */
  override concat(other: ListValue): Value {
    spend(KEY_UNITS * other.size);
    const items: Value[] = Array.from({ length: this.size }, (_, i) => this.at(i));
    const places = new Map(this.#findPlaces());
    for (let i = 0; i < other.size; i++) {
      const item = other.at(i);
      const key = this.keyOf(item) ?? `no key ${items.length}`;
      const at = places.get(key) ?? items.length;
      places.set(key, at);
      items[at] = item;
    }
    return new ArrayList(items);
  }
}

function firstPlaces(list: ListValue, keyOf: (item: Value) => string | undefined): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  spend(KEY_UNITS * list.size);
  for (let i = 0; i < list.size; i++) {
    const key = keyOf(list.at(i)) ?? `no key ${i}`;
    if (!places.has(key)) places.set(key, i);
  }
  return places;
}

class SetList extends KeyedList {
  override get goType(): string {
    return "*common.unstructuredSetList";
  }
  protected override keyOf(item: Value): string | undefined {
    return canonicalText(item);
  }
}

class MapList extends KeyedList {
  override get goType(): string {
    return "*common.unstructuredMapList";
  }
  readonly #keys: readonly string[];
  constructor(items: readonly Json[], schema: Schema, keys: readonly string[]) {
    super(items, schema);
    this.#keys = keys.map((key) => escapeName(key) ?? key);
  }

  protected override keyOf(item: Value): string | undefined {
    if (!(item instanceof MapValue)) return undefined;
    let text = "";
    for (const name of this.#keys) {
      const key = item.find(name);
      const own = key === undefined ? "-" : canonicalText(key);
      if (own === undefined) return undefined;
      text += `${own},`;
    }
    return text;
  }
}

/**
 * A text that equal values have in common, to find elements of long lists without comparing all pairs. Undefined for a
 * value that equals nothing.
 */
function canonicalText(value: Value): string | undefined {
  if (typeof value === "string") {
    spendOnText(value, "whole");
    return JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Double) return Number.isInteger(value.value) ? String(BigInt(value.value)) : `${value.value}`;
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Bytes) return `b${Buffer.from(value.data).toString("hex")}`;
  if (value instanceof Duration) return `d${value.nanos}`;
  if (value instanceof Timestamp) return `t${value.seconds}.${value.nanos}`;
  if (value instanceof Preserved) return printSorted(value.json);
  if (value instanceof CelError) return undefined;
  if (value instanceof ListValue || value instanceof MapValue) spend(KEY_UNITS * value.size);
  if (value instanceof ListValue) {
    const items = Array.from({ length: value.size }, (_, i) => canonicalText(value.at(i)));
    if (items.includes(undefined)) return undefined;
    return `[${(value instanceof KeyedList ? items.sort() : items).join()}]`;
  }
  if (!(value instanceof MapValue)) return value.type.name;
  const members = Array.from(value.keys(), (key) => {
    const member = value.find(key);
    return `${canonicalText(key)}:${member === undefined ? "-" : canonicalText(member)}`;
  });
  return `{${members.sort().join()}}`;
}

function listOf(items: readonly Json[], schema: Schema): Value {
  const { items: below, listType, listMapKeys = [] } = schema;
  if (below === undefined) return new CelError("invalid array type, expected Items with a non-empty Schema");
  if (listType === "map") return new MapList(items, below, listMapKeys);
  return listType === "set" ? new SetList(items, below) : new SchemaList(items, below);
}
