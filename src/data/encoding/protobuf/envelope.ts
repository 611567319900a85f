import type { JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { WireWriter } from "../../../base/util/wire-writer.ts";
import type { Schema } from "../../schema/schema.ts";
import { DecodeError } from "../json/json.ts";
import { expectWireType, writeField } from "./codec.ts";
import { decodeMessage, encodeMessage } from "./message.ts";
import { Reader } from "./reader.ts";
import { STRING } from "./scalars.ts";

/** Finds the schema of a kind's message. Undefined if there is none, as for custom kinds. */
export type SchemaOf = (apiVersion: string, kind: string) => Schema | undefined;

/** The type of a message. Members are empty if unknown. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Whether bytes, of a request or in the store, are an object in Kubernetes' protobuf encoding. */
export function isProtobuf(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && MAGIC.every((byte, index) => bytes[index] === byte);
}

/** Wraps the message of an object in an envelope (runtime.Unknown). */
export function wrapMessage(type: TypeMeta, message: Uint8Array): Buffer {
  const head = envelopeHead(type, message.length);
  return Buffer.concat([head, message, ENVELOPE_END], head.length + message.length + ENVELOPE_END.length);
}

/** The end of an envelope: empty content encoding and content type. */
export const ENVELOPE_END: Uint8Array = Buffer.from([0x1a, 0x00, 0x22, 0x00]);

const scratch = new WireWriter();

/** The envelope before a message of `size` bytes. */
export function envelopeHead({ apiVersion, kind }: TypeMeta, size: number): Buffer {
  scratch.reset();
  scratch.uint32(size);
  scratch.tag(2, 2);
  const before = scratch.size;
  writeField(scratch, 2, STRING, kind);
  writeField(scratch, 1, STRING, apiVersion);
  scratch.delimit(1, before);
  scratch.bytes(MAGIC);
  return scratch.finish();
}

/** A decoded envelope. The message shares the memory of the bytes. */
export interface Envelope extends TypeMeta {
  readonly message: Uint8Array;
}

/** Decodes an envelope. Throws DecodeError with the message of kube-apiserver. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new DecodeError("empty data");
  if (!isProtobuf(bytes)) {
    const prefix = [...MAGIC].join(" ");
    throw new DecodeError(`provided data does not appear to be a protobuf message, expected prefix [${prefix}]`);
  }
  if (bytes.length === MAGIC.length) throw new DecodeError("empty body");
  const input = new Reader(bytes);
  input.at = MAGIC.length;
  let type: TypeMeta = { apiVersion: "", kind: "" };
  let message: Uint8Array = bytes.subarray(0, 0);
  while (input.at < input.size) {
    const tag = input.tag(input.size, "Unknown");
    if (tag >>> 3 === 1) {
      expectWireType(tag & 7, 2, "typeMeta");
      type = readTypeMeta(input, input.length(input.size));
    } else if (tag >>> 3 === 2) {
      expectWireType(tag & 7, 2, "raw");
      message = input.bytes(input.length(input.size));
    } else input.skip(tag & 7, input.size);
  }
  return { ...type, message };
}

function readTypeMeta(input: Reader, end: number): TypeMeta {
  let apiVersion = "";
  let kind = "";
  while (input.at < end) {
    const tag = input.tag(end, "TypeMeta");
    const number = tag >>> 3;
    if (number !== 1 && number !== 2) {
      input.skip(tag & 7, end);
      continue;
    }
    expectWireType(tag & 7, 2, number === 1 ? "APIVersion" : "kind");
    const text = input.string(input.length(end));
    if (number === 1) apiVersion = text;
    else kind = text;
  }
  return { apiVersion, kind };
}

/** Encodes an object with its envelope. The schema is that of its kind. */
export function encodeObject(schema: Schema, object: JsonObject): Buffer {
  return wrapMessage(typeOf(object), encodeMessage(schema, object));
}

/** Kind and apiVersion of an object. Empty if it has none. */
export function typeOf({ apiVersion, kind }: JsonObject): TypeMeta {
  return {
    apiVersion: typeof apiVersion === "string" ? apiVersion : "",
    kind: typeof kind === "string" ? kind : "",
  };
}

/** The kind does not exist. */
export class UnknownTypeError extends DecodeError {
  readonly type: TypeMeta;

  constructor(type: TypeMeta) {
    super(
      `no kind ${quote(type.kind)} is registered for version ${quote(type.apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
    this.type = type;
  }
}

/** Options of decoding an envelope. */
export interface DecodeObjectOptions {
  /** The type, if the envelope does not name one. */
  readonly fallback?: TypeMeta;
  /** The bytes are a request body: rejected with 413 if they contain too much. */
  readonly isBody?: boolean;
}

/** Decodes an envelope and its object. Throws DecodeError, also if the kind does not exist. */
export function decodeObject(
  bytes: Uint8Array,
  schemaOf: SchemaOf,
  { fallback, isBody }: DecodeObjectOptions = {},
): JsonObject {
  const envelope = openEnvelope(bytes);
  const kind = envelope.kind || fallback?.kind;
  const apiVersion = envelope.apiVersion || fallback?.apiVersion;
  if (!kind) throw new DecodeError(missing("Kind", envelope));
  if (!apiVersion) throw new DecodeError(missing("apiVersion", envelope));
  const schema = schemaOf(apiVersion, kind);
  if (schema === undefined) throw new UnknownTypeError({ apiVersion, kind });
  return { kind, apiVersion, ...decodeMessage(schema, envelope.message, isBody) };
}

function missing(member: string, { apiVersion, kind }: TypeMeta): string {
  const shown = `APIVersion:${JSON.stringify(apiVersion)}, Kind:${JSON.stringify(kind)}`;
  return `Object '${member}' is missing in 'runtime.TypeMeta{${shown}}'`;
}
