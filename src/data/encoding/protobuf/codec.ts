import type { Json } from "../../../base/api/object.ts";
import type { WireType, WireWriter } from "../../../base/util/wire-writer.ts";
import { DecodeError } from "../json/json.ts";
import type { Reader } from "./reader.ts";

/** Encodes and decodes one value. A value of another type than the schema's is written as zero. */
export interface ValueCodec {
  readonly wireType: WireType;
  /** Writes the payload, without tag and length. Null and undefined count as zero. */
  write(out: WireWriter, value: Json | undefined): void;
  /** Reads the payload. A length-delimited payload ends at `end`, and `input.at` is there afterwards. */
  read(input: Reader, end: number): Json;
  /** The zero value in JSON. The caller owns it. */
  zero(): Json;
  /** Whether the zero value is a single byte 0: a number, or the length of an empty text. */
  readonly isScalar?: boolean;
  /** Whether null is a distinct state, in which the field is omitted. */
  readonly isNullable?: boolean;
}

/** Throws DecodeError if a field has the wrong wire type. */
export function expectWireType(actual: number, expected: WireType, field: string): void {
  if (actual === expected) return;
  const name = field.charAt(0).toUpperCase() + field.slice(1);
  throw new DecodeError(`proto: wrong wireType = ${actual} for field ${name}`);
}

/** Writes a field: tag, length (if the type has one), payload. */
export function writeField(out: WireWriter, number: number, codec: ValueCodec, value: Json | undefined): void {
  const before = out.size;
  codec.write(out, value);
  if (codec.wireType === 2) out.delimit(number, before);
  else out.tag(number, codec.wireType);
}

/** Reads the field after its tag: length (if the type has one), payload. */
export function readField(input: Reader, codec: ValueCodec, end: number): Json {
  if (codec.wireType !== 2) return codec.read(input, end);
  const fieldEnd = input.length(end);
  const value = codec.read(input, fieldEnd);
  input.at = fieldEnd;
  return value;
}
