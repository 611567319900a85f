import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { noteName } from "../../../base/util/parse-json.ts";
import type { WireWriter } from "../../../base/util/wire-writer.ts";
import type { Schema } from "../../schema/schema.ts";
import { expectWireType, readField, type ValueCodec, writeField } from "./codec.ts";
import type { Reader } from "./reader.ts";
import { STRING } from "./scalars.ts";

/** Member values of an object, by their index in the schema. */
export type Slots = (Json | undefined)[];

/** A field of a message. */
interface Field {
  readonly number: number;
  write(out: WireWriter, slots: Slots): void;
  /** Reads the field after its tag. */
  read(input: Reader, wireType: number, end: number, slots: Slots): void;
}

/** The fields of a message. */
export class FieldSet {
  readonly #message: string;
  readonly #descending: readonly Field[];
  readonly #byNumber: readonly (Field | undefined)[];

  /** `message` is the message name in errors. */
  constructor(message: string, fields: readonly Field[]) {
    const byNumber: (Field | undefined)[] = [];
    for (const field of fields) byNumber[field.number] = field;
    this.#message = message;
    this.#byNumber = byNumber;
    this.#descending = fields.toSorted((a, b) => b.number - a.number);
  }

  write(out: WireWriter, slots: Slots): void {
    for (const field of this.#descending) field.write(out, slots);
  }

  read(input: Reader, end: number, slots: Slots): void {
    while (input.at < end) {
      const tag = input.tag(end, this.#message);
      const field = this.#byNumber[tag >>> 3];
      if (field === undefined) input.skip(tag & 7, end);
      else field.read(input, tag & 7, end, slots);
    }
  }
}

/** One member of an object and its field in the message. */
export interface Member {
  readonly name: string;
  readonly slot: number;
  readonly number: number;
  /** The codec of the value, or of each item or map value. */
  readonly codec: ValueCodec;
  readonly zero: Schema["zero"];
}

/** A field with a single value. */
export function singleField({ name, slot, number, codec, zero }: Member): Field {
  const isWrittenAlways = zero !== undefined && !codec.isNullable;
  const { wireType, isScalar = false } = codec;
  return {
    number,
    write: (out, slots) => {
      const value = slots[slot];
      if (value !== undefined && value !== null) writeField(out, number, codec, value);
      else if (!isWrittenAlways) return;
      else if (isScalar) out.zero(number, wireType);
      else writeField(out, number, codec, value);
    },
    read: (input, wireType, end, slots) => {
      expectWireType(wireType, codec.wireType, name);
      slots[slot] = readField(input, codec, end);
    },
  };
}

/** A list: one field per item. */
export function listField({ name, slot, number, codec }: Member): Field {
  const { wireType: itemType } = codec;
  return {
    number,
    write: (out, slots) => {
      const value = slots[slot];
      if (!Array.isArray(value)) return;
      for (let index = value.length - 1; index >= 0; index--) writeField(out, number, codec, value[index]);
    },
    read: (input, wireType, end, slots) => {
      const list = (slots[slot] ?? []) as Json[];
      slots[slot] = list;
      if (wireType === 2 && itemType !== 2) {
        // Packed: other encoders than Kubernetes' write all numbers of a list after one tag.
        for (const packedEnd = input.length(end); input.at < packedEnd; input.count()) {
          list.push(codec.read(input, packedEnd));
        }
        return;
      }
      expectWireType(wireType, itemType, name);
      input.count();
      list.push(readField(input, codec, end));
    },
  };
}

/** A map: one field per entry, which is a message of key and value. */
export function mapField({ name, slot, number, codec }: Member): Field {
  return {
    number,
    write: (out, slots) => {
      const value = slots[slot];
      if (!isObject(value)) return;
      const keys = Object.keys(value);
      if (keys.length > 1) keys.sort();
      for (let index = keys.length - 1; index >= 0; index--) {
        const key = keys[index] as string;
        const before = out.size;
        const entry = value[key];
        if (!codec.isNullable || (entry !== null && entry !== undefined)) writeField(out, 2, codec, entry);
        writeField(out, 1, STRING, key);
        out.delimit(number, before);
      }
    },
    read: (input, wireType, end, slots) => {
      expectWireType(wireType, 2, name);
      const map = (slots[slot] ?? {}) as JsonObject;
      slots[slot] = map;
      input.count();
      readEntry(input, input.length(end), map, codec);
    },
  };
}

function readEntry(input: Reader, end: number, map: JsonObject, codec: ValueCodec): void {
  let key = "";
  let value: Json | undefined;
  while (input.at < end) {
    const tag = input.tag(end, "entry");
    if (tag >>> 3 === 1) {
      expectWireType(tag & 7, 2, "key");
      key = input.string(input.length(end));
    } else if (tag >>> 3 === 2) {
      expectWireType(tag & 7, codec.wireType, "value");
      value = readField(input, codec, end);
    } else input.skip(tag & 7, end);
  }
  value ??= codec.zero();
  noteName(key);
  if (key === "__proto__") {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else map[key] = value;
}

/** An embedded message, whose fields are inlined in JSON. Always written. */
export function embeddedField(number: number, fields: FieldSet): Field {
  return {
    number,
    write: (out, slots) => {
      const before = out.size;
      fields.write(out, slots);
      out.delimit(number, before);
    },
    read: (input, wireType, end, slots) => {
      expectWireType(wireType, 2, "embedded");
      fields.read(input, input.length(end), slots);
    },
  };
}
