import type { Json } from "../../api/object.ts";
import type { WireType, WireWriter } from "../../lib/wire-writer.ts";
import { DecodeError } from "../json/json.ts";
import type { Reader } from "./reader.ts";

/** How one value is written and read. A value of another type than the schema's is written as zero. */
export interface ValueCodec {
  readonly wireType: WireType;
  /** Writes the payload, without tag and length. Null and undefined count as zero. */
  write(out: WireWriter, value: Json | undefined): void;
  /** Reads the payload; where it has a length, it ends at `end`, and `input.at` is there afterwards. */
  read(input: Reader, end: number): Json;
  /** What JSON shows for the zero value. The caller owns it. */
  zero(): Json;
  /** The zero value is a single byte 0: of a number, or the length of no text. */
  readonly isScalar?: boolean;
  /** Null is a state of its own, in which the field is absent. */
  readonly isNullable?: boolean;
}

/** Throws DecodeError unless a field came with the wire type that it has to have. */
export function expectWireType(actual: number, expected: WireType, field: string): void {
  if (actual === expected) return;
  const name = field.charAt(0).toUpperCase() + field.slice(1);
  throw new DecodeError(`proto: wrong wireType = ${actual} for field ${name}`);
}

/** Writes a field: tag, length where the type has one, payload. */
export function writeField(out: WireWriter, number: number, codec: ValueCodec, value: Json | undefined): void {
  const before = out.size;
  codec.write(out, value);
  if (codec.wireType === 2) out.delimit(number, before);
  else out.tag(number, codec.wireType);
}

/** Reads what follows a tag: length where the type has one, payload. */
export function readField(input: Reader, codec: ValueCodec, end: number): Json {
  if (codec.wireType !== 2) return codec.read(input, end);
  const fieldEnd = input.length(end);
  const value = codec.read(input, fieldEnd);
  input.at = fieldEnd;
  return value;
}
