import type { Json, JsonObject } from "../../base/api/object.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { setMember } from "../../base/util/members.ts";
import {
  anyDecoder,
  booleanDecoder,
  bytesDecoder,
  type Decoder,
  floatDecoder,
  integerDecoder,
  stringDecoder,
  wireDecoders,
} from "./decode-scalars.ts";
import {
  type BodyForm,
  DecodeFailure,
  DecodeState,
  type EmptyValue,
  type FieldName,
  goKindOf,
  wordFor,
} from "./decode-state.ts";
import { elementTypeOf, fieldPathOf, fieldTypeOf, goTypeOf, isWrittenAsNull, structNameOf } from "./go-names.ts";
import type { Schema } from "./schema.ts";

/** Options of decoding a body. */
export interface DecodeOptions {
  /** Default: "body". */
  readonly form?: BodyForm;
  /**
   * Messages `duplicate field "…"` about the whole body. Those about known fields are reported with the unknown ones.
   */
  readonly duplicates?: readonly string[];
  /** Keeps empty lists and maps, although storing makes them the same as omitted. */
  readonly keepsEmpties?: boolean;
  /** The value may contain WrittenNumbers. They are converted where any value is allowed. */
  readonly hasWrittenNumbers?: boolean;
}

/** A decoded body. */
export interface Decoded {
  /** The value as Go encodes it. New, except for free-form parts, which are shared with the input. */
  readonly value: JsonObject;
  /** Messages of strict validation, `unknown field "…"` and `duplicate field "…"`, in the order of the report. */
  readonly strict: readonly string[];
  /** Empty lists and maps where storing makes them the same as omitted. */
  readonly empties: readonly EmptyValue[];
  /** The error message of kube-apiserver's decoder, if the body is rejected. `value` is then meaningless. */
  readonly error?: string;
}

/**
 * Does what typed decoding and encoding do in kube-apiserver: drops unknown fields, nulls and zero values that count as
 * omitted, adds always written fields, orders members, and normalizes times, quantities and bytes.
 */
export function decodeBySchema(value: Json, schema: Schema, options: DecodeOptions = {}): Decoded {
  const { form = "body", duplicates, keepsEmpties = false, hasWrittenNumbers = false } = options;
  const state = new DecodeState(form, duplicates);
  state.keepsEmpties = keepsEmpties;
  state.hasWrittenNumbers = hasWrittenNumbers;
  const decoder = rootDecoder(schema);
  let decoded: Json = {};
  try {
    decoded = value === null ? decoder.zero() : decoder.decode(value, state);
  } catch (error) {
    if (!(error instanceof DecodeFailure)) throw error;
    state.error = error.message;
  }
  const strict = form === "merged" ? state.strict.toSorted() : state.strict;
  return { value: decoded as JsonObject, strict, empties: state.empties, error: state.error };
}

const roots = new WeakMap<Schema, Decoder>();

function rootDecoder(schema: Schema): Decoder {
  let decoder = roots.get(schema);
  if (decoder === undefined) {
    decoder = decoderOf(schema, goTypeOf(schema));
    roots.set(schema, decoder);
  }
  return decoder;
}

type Properties = NonNullable<Schema["properties"]>;

const NO_FIELDS: Properties = new Map();
const structs = new WeakMap<Properties, Map<string, Decoder>>();

function decoderOf(schema: Schema, goType: string): Decoder {
  const { wire } = schema;
  const known = wire === undefined ? undefined : wireDecoders.get(wire);
  if (known !== undefined) return known;
  if (wire === "schema-or-bool" || wire === "schema-or-array" || wire === "schema-or-string-array") {
    return alternativesDecoder(schema, wire);
  }
  // A named type without fields is an empty struct.
  const properties = schema.properties ?? (schema.component === undefined ? undefined : NO_FIELDS);
  if (properties !== undefined) return cachedStruct(schema, properties, goType);
  if (schema.type === "array") return listDecoder(schema.items, goType);
  if (schema.type === "object" && schema.values !== undefined) return mapDecoder(schema.values, goType);
  if (schema.type === "string") return schema.format === "byte" ? bytesDecoder(goType) : stringDecoder(goType);
  if (schema.type === "integer") return integerDecoder(goType, schema.format === "int32" ? 32 : 64);
  if (schema.type === "number") return floatDecoder(goType);
  return schema.type === "boolean" ? booleanDecoder(goType) : anyDecoder;
}

function cachedStruct(schema: Schema, properties: Properties, goType: string): Decoder {
  const byType = structs.get(properties) ?? new Map<string, Decoder>();
  structs.set(properties, byType);
  const decoder = byType.get(goType) ?? structDecoder(schema.component ?? "", properties, goType);
  byType.set(goType, decoder);
  return decoder;
}

interface Field extends FieldName {
  readonly name: string;
  readonly index: number;
  readonly decoder: Decoder;
  /** Whether zero and omitted are the same. */
  readonly isValue: boolean;
  /** A list, map or bytes: empty and omitted differ until they are stored. */
  readonly isCollection: boolean;
  /** The value to write if the field is omitted. Undefined: none. */
  readonly absent: (() => Json) | undefined;
  /** The JSON size of that value with its name. */
  readonly absentBytes: () => number;
}

function compileFields(component: string, properties: Properties): Field[] {
  const struct = structNameOf(component);
  return [...properties].map(([name, schema], index): Field => {
    const decoder = decoderOf(schema, fieldTypeOf(component, name, schema));
    const isWritten = schema.zero === "written";
    // An always written list or map is null if it is empty: storing it loses the difference.
    const isCollection = schema.type === "array" || (schema.type === "object" && schema.properties === undefined);
    const writesNull = isWrittenAsNull(component, name) || (isWritten && (isCollection || schema.format === "byte"));
    const absent = writesNull ? () => null : isWritten ? decoder.zero : undefined;
    return {
      name,
      index,
      struct,
      path: fieldPathOf(component, name, schema),
      decoder,
      isValue: schema.zero !== undefined,
      isCollection: isCollection || schema.format === "byte",
      absent,
      absentBytes: absent === undefined ? () => 0 : bytesOf(name, absent),
    };
  });
}

/** The JSON size of a constant item, or of a member with this name. Computed on first use. */
function bytesOf(name: string, value: () => Json): () => number {
  let bytes = 0;
  return () => {
    if (bytes === 0) bytes = JSON.stringify(value()).length + name.length + 4;
    return bytes;
  };
}

function structDecoder(component: string, properties: Properties, goType: string): Decoder {
  let compiled: { fields: Field[]; byName: Map<string, Field> } | undefined;
  // Compiled on first use, because a type may contain itself.
  const compile = () => {
    const fields = compileFields(component, properties);
    compiled = { fields, byName: new Map(fields.map((field) => [field.name, field])) };
    return compiled;
  };
  const write = (slots: readonly (Json | undefined)[], state?: DecodeState): JsonObject => {
    const { fields } = compiled ?? compile();
    const object: JsonObject = {};
    let added = 0;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i];
      if (field === undefined) continue;
      const value = slots[i];
      if (value !== undefined) object[field.name] = value;
      else if (field.absent !== undefined) {
        object[field.name] = field.absent();
        added += field.absentBytes();
      }
    }
    state?.add(added);
    return object;
  };
  return {
    decode(value, state) {
      if (typeof value !== "object" || Array.isArray(value) || value === null || isExactInteger(value)) {
        if (state.isUnstructured) throw new DecodeFailure(`cannot restore struct from: ${goKindOf(value)}`);
        state.wrongType(wordFor(value), goType);
        return write([], state);
      }
      const { fields, byName } = compiled ?? compile();
      const slots: (Json | undefined)[] = new Array(fields.length);
      for (const name of state.isSorted ? Object.keys(value).sort() : Object.keys(value)) {
        const field = byName.get(name);
        if (field === undefined) state.unknownField(name);
        else slots[field.index] = decodeField(field, value[name] ?? null, state);
      }
      return write(slots, state);
    },
    zero: () => write([]),
    isZero: () => false,
  };
}

/** The value to write for a field. Undefined if it counts as omitted. */
function decodeField(field: Field, value: Json, state: DecodeState): Json | undefined {
  if (value === null && !state.hasDuplicates) return undefined;
  const { decoder } = field;
  state.path.push(field.name);
  state.fields.push(field);
  if (state.hasDuplicates) state.noteDuplicate();
  const decoded = value === null ? null : decoder.decode(value, state);
  const isAbsent = value === null || (field.isValue && decoder.isZero(decoded));
  const isEmpty = isAbsent && value !== null && field.isCollection;
  if (isEmpty) state.noteEmpty(decoded);
  state.path.pop();
  state.fields.pop();
  return isAbsent && !(isEmpty && state.keepsEmpties) ? undefined : decoded;
}

function listDecoder(items: Schema | undefined, goType: string): Decoder {
  let item: Decoder | undefined;
  let zeroBytes = () => 0;
  return {
    decode(value, state) {
      if (!Array.isArray(value)) {
        if (state.isUnstructured) throw new DecodeFailure(`cannot restore slice from ${goKindOf(value)}`);
        state.wrongType(wordFor(value), goType);
        return [];
      }
      if (item === undefined) {
        item = items === undefined ? anyDecoder : decoderOf(items, elementTypeOf(goType, items));
        zeroBytes = bytesOf("", item.zero);
      }
      const list: Json[] = [];
      for (let i = 0; i < value.length; i++) {
        const one = value[i] ?? null;
        state.path.push(i);
        if (one === null) state.add(zeroBytes());
        list.push(one === null ? item.zero() : item.decode(one, state));
        state.path.pop();
      }
      return list;
    },
    zero: () => [],
    isZero: (value) => Array.isArray(value) && value.length === 0,
  };
}

function mapDecoder(values: Schema | true, goType: string): Decoder {
  let member: Decoder | undefined;
  return {
    decode(value, state) {
      if (typeof value !== "object" || Array.isArray(value) || value === null || isExactInteger(value)) {
        if (state.isUnstructured) throw new DecodeFailure(`cannot restore map from ${goKindOf(value)}`);
        state.wrongType(wordFor(value), goType);
        return {};
      }
      member ??= values === true ? anyDecoder : decoderOf(values, elementTypeOf(goType, values));
      const names = state.isSorted ? Object.keys(value).sort() : Object.keys(value);
      const members: Json[] = [];
      for (const name of names) {
        state.path.push(name);
        if (state.hasDuplicates) state.noteDuplicate();
        const one = value[name] ?? null;
        members.push(one === null ? member.zero() : member.decode(one, state));
        state.path.pop();
      }
      return sortedMap(names, members);
    },
    zero: () => ({}),
    isZero: isEmpty,
  };
}

function isEmpty(value: Json): boolean {
  for (const _ in value as JsonObject) return false;
  return true;
}

function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if ((names[i - 1] ?? "") > (names[i] ?? "")) return false;
  return true;
}

/** Builds the map in order: adding a member to a map of thousands costs far more than anything else here. */
function sortedMap(names: readonly string[], members: readonly Json[]): JsonObject {
  const map: JsonObject = {};
  if (isSorted(names)) {
    for (let i = 0; i < names.length; i++) setMember(map, names[i] as string, members[i]);
    return map;
  }
  const order = Array.from(names, (_, index) => index);
  order.sort((one, other) => ((names[one] as string) < (names[other] as string) ? -1 : 1));
  for (const index of order) setMember(map, names[index] as string, members[index]);
  return map;
}

type Alternatives = "schema-or-bool" | "schema-or-array" | "schema-or-string-array";

/**
 * Compat: JSONSchemaPropsOrBool, …OrArray and …OrStringArray have their own `UnmarshalJSON`, which reports no unknown
 * fields and stops at the first wrong type.
 */
function alternativesDecoder(schema: Schema, wire: Alternatives): Decoder {
  let parts: ReturnType<typeof alternativesOf> | undefined;
  const decode = (value: Json, state: DecodeState): Json => {
    parts ??= alternativesOf(schema);
    if (Array.isArray(value)) return wire === "schema-or-bool" ? refused() : orNull(parts.list.decode(value, state));
    if (typeof value === "object" && !isExactInteger(value)) return parts.object.decode(value, state);
    if (wire !== "schema-or-bool") return null;
    return typeof value === "boolean" ? value : refused();
  };
  return {
    decode(value, state) {
      const before = state.error;
      state.error = undefined;
      state.lenient++;
      const decoded = decode(value, state);
      state.lenient--;
      if (state.error !== undefined) throw new DecodeFailure(state.error);
      state.error = before;
      return decoded;
    },
    zero: () => null,
    isZero: (value) => value === null,
  };
}

function alternativesOf(schema: Schema): { object: Decoder; list: Decoder } {
  const { component, properties, items } = schema;
  // The component is named after its alternatives, the struct first: `ThisOrThat`.
  const struct = component?.slice(0, component.lastIndexOf("Or"));
  const objectSchema: Schema = { component: struct };
  return {
    object: properties === undefined ? anyDecoder : cachedStruct(objectSchema, properties, goTypeOf(objectSchema)),
    list: listDecoder(items, `[]${items === undefined ? "" : goTypeOf(items)}`),
  };
}

const orNull = (list: Json): Json => (Array.isArray(list) && list.length === 0 ? null : list);

function refused(): never {
  throw new DecodeFailure("boolean or JSON schema expected");
}
