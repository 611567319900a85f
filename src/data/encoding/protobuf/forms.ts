import { isObject, type Json } from "../../../base/api/object.ts";
import { printGoJson } from "../../../base/go/go-json.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";
import type { Schema, WireForm } from "../../schema/schema.ts";
import { DecodeError, decodeJson, parseJson } from "../json/json.ts";
import { expectWireType, readField, type ValueCodec, writeField } from "./codec.ts";
import { DURATION } from "./duration.ts";
import type { Reader } from "./reader.ts";
import { BOOL, BYTES, INT32, STRING } from "./scalars.ts";
import { MICRO_TIME, TIME } from "./times.ts";

/** Finds the codec of a regular schema. */
export type CodecOf = (schema: Schema) => ValueCodec;

/** The codec of a schema whose message does not follow from its fields. */
export function formCodec(form: WireForm, schema: Schema, codecOf: CodecOf): ValueCodec {
  switch (form) {
    case "quantity":
      return QUANTITY;
    case "int-or-string":
      return INT_OR_STRING;
    case "time":
      return TIME;
    case "micro-time":
      return MICRO_TIME;
    case "duration":
      return DURATION;
    case "raw-json":
      return RAW_JSON;
    case "wrapped-list":
      return wrappedList(codecOf(schema.items ?? {}));
    case "schema-or-bool":
      return schemaOrBool(plainCodec(schema, codecOf));
    case "schema-or-array":
    case "schema-or-string-array":
      return schemaOrList(plainCodec(schema, codecOf), codecOf(schema.items ?? {}));
  }
}

/** The codec of the schema alternative. Resolved lazily, because JSONSchemaProps contains itself. */
function plainCodec(schema: Schema, codecOf: CodecOf): () => ValueCodec {
  let codec: ValueCodec | undefined;
  return () => {
    codec ??= codecOf({ component: schema.component, type: "object", properties: schema.properties });
    return codec;
  };
}

/** Reads a message of few fields. Fields whose number is not in `fields` are skipped. */
function readParts(input: Reader, end: number, fields: readonly (ValueCodec | undefined)[], name: string): Json[][] {
  const values: Json[][] = fields.map(() => []);
  while (input.at < end) {
    const tag = input.tag(end, name);
    const codec = fields[tag >>> 3];
    if (codec === undefined) {
      input.skip(tag & 7, end);
      continue;
    }
    expectWireType(tag & 7, codec.wireType, name);
    values[tag >>> 3]?.push(readField(input, codec, end));
  }
  return values;
}

/** A Quantity: its text is field 1. */
const QUANTITY: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    const text = typeof value === "string" || isNumber(value) ? String(value) : "0";
    writeField(out, 1, STRING, text);
  },
  read: (input, end) => readParts(input, end, [undefined, STRING], "Quantity")[1]?.at(-1) ?? "0",
  zero: () => "0",
};

const INT_OR_STRING: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    const isText = typeof value === "string";
    writeField(out, 3, STRING, isText ? value : "");
    writeField(out, 2, INT32, isText ? 0 : value);
    writeField(out, 1, INT32, isText ? 1 : 0);
  },
  read: (input, end) => {
    const [, types, numbers, texts] = readParts(input, end, [undefined, INT32, INT32, STRING], "IntOrString");
    const type = types?.at(-1) ?? 0;
    if (type === 0) return numbers?.at(-1) ?? 0;
    if (type === 1) return texts?.at(-1) ?? "";
    throw new DecodeError("impossible IntOrString.Type");
  },
  zero: () => 0,
};

/** Decodes bytes that contain JSON. */
const JSON_BYTES: ValueCodec = {
  ...BYTES,
  read: (input, end) =>
    input.at === end ? null : input.isBody ? decodeJson(input.bytes(end)).value : parseJson(input.bytes(end)),
};

/**
 * Differs: kube-apiserver keeps the bytes of a RawExtension as the client sent them. We print them like Go, as nearly all clients
 * do. The controllers of StatefulSets and DaemonSets compare them with bytes of their own: see ControllerRevision.
 */
const RAW_JSON: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    if (value === null || value === undefined) return;
    const before = out.size;
    out.string(printGoJson(value));
    out.delimit(1, before);
  },
  read: (input, end) => readParts(input, end, [undefined, JSON_BYTES], "RawExtension")[1]?.at(-1) ?? null,
  zero: () => null,
};

function wrappedList(item: ValueCodec): ValueCodec {
  return {
    wireType: 2,
    write: (out, value) => {
      if (!Array.isArray(value)) return;
      for (const entry of value.toReversed()) writeField(out, 1, item, entry);
    },
    read: (input, end) => readParts(input, end, [undefined, item], "Items")[1] ?? [],
    zero: () => null,
    isNullable: true,
  };
}

/** A schema or a boolean: `allows` is field 1 and `schema` is field 2. */
function schemaOrBool(schema: () => ValueCodec): ValueCodec {
  return {
    wireType: 2,
    write: (out, value) => {
      const hasSchema = isObject(value);
      if (hasSchema) writeField(out, 2, schema(), value);
      writeField(out, 1, BOOL, hasSchema || value === true);
    },
    read: (input, end) => {
      const [, allows, schemas] = readParts(input, end, [undefined, BOOL, schema()], "JSONSchemaPropsOrBool");
      return schemas?.at(-1) ?? allows?.at(-1) ?? false;
    },
    zero: () => false,
  };
}

/** A schema (field 1) or a list (items are field 2). */
function schemaOrList(schema: () => ValueCodec, item: ValueCodec): ValueCodec {
  return {
    wireType: 2,
    write: (out, value) => {
      if (Array.isArray(value)) for (const entry of value.toReversed()) writeField(out, 2, item, entry);
      else if (isObject(value)) writeField(out, 1, schema(), value);
    },
    read: (input, end) => {
      const [, schemas, items] = readParts(input, end, [undefined, schema(), item], "JSONSchemaPropsOrArray");
      return items !== undefined && items.length > 0 ? items : (schemas?.at(-1) ?? null);
    },
    zero: () => null,
  };
}
