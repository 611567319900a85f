import { BodyError, type RequestBody } from "../../base/api/call.ts";
import { isObject, type Json } from "../../base/api/object.ts";
import { type DecodedBody, DecodeError, decodeJson } from "./json/json.ts";
import type { MediaType } from "./negotiation/negotiate.ts";
import { decodeObject, type SchemaOf, type TypeMeta, UnknownTypeError } from "./protobuf/envelope.ts";
import { decodeYaml } from "./yaml/yaml.ts";

/** Options of decoding a protobuf body. */
export interface MessageContext {
  readonly schemaOf: SchemaOf;
  /** The type of a body that does not name one. */
  readonly fallback?: TypeMeta;
}

/**
 * Decodes the body of a write. The value is an object, or null for an empty body, `null` or a blank YAML document.
 * Throws BodyError with the inner part of kube-apiserver's message. Protobuf needs `messages`.
 */
export function decodeBody(bytes: Uint8Array, mediaType: MediaType, messages?: MessageContext): RequestBody {
  if (mediaType === "application/vnd.kubernetes.protobuf") return decodeProtobuf(bytes, messages);
  const format = mediaType === "application/yaml" ? "yaml" : "json";
  if (bytes.length === 0) return { value: null, isEmpty: true, bytes, format, duplicates: () => [] };
  const decoded = decode(bytes, mediaType);
  const { value } = decoded;
  if (value === null || isObject(value)) return { ...decoded, isEmpty: false, bytes, format };
  throw new BodyError(
    `${PARSE_ERROR}json: cannot unmarshal ${typeWord(value)} into Go value of type ${GO_TYPE}`,
    bytes,
  );
}

const PARSE_ERROR = "couldn't get version/kind; json parse error: ";
const GO_TYPE =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function decode(bytes: Uint8Array, mediaType: MediaType): DecodedBody {
  const isYaml = mediaType === "application/yaml";
  try {
    return isYaml ? decodeYaml(bytes) : decodeJson(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new BodyError(`${isYaml ? "" : PARSE_ERROR}${error.message}`, bytes);
  }
}

// Compat: protobuf has no strict decoding, so fieldValidation finds no unknown or duplicate fields.
function decodeProtobuf(bytes: Uint8Array, messages?: MessageContext): RequestBody {
  try {
    const schemaOf = messages?.schemaOf ?? (() => undefined);
    const isEmpty = bytes.length === 0;
    const value = isEmpty ? null : decodeObject(bytes, schemaOf, { fallback: messages?.fallback, isBody: true });
    return { value, isEmpty, bytes, format: "protobuf", duplicates: () => [] };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new BodyError(error.message, bytes, error instanceof UnknownTypeError ? error.type : undefined);
  }
}

function typeWord(value: Json): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
