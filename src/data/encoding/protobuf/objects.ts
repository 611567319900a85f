import { notAcceptable } from "../../../base/api/api-error.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import type { ObjectView } from "../../../base/api/reply.ts";
import type { Schema } from "../../schema/schema.ts";
import { encodeObject, type SchemaOf, type TypeMeta, wrapMessage } from "./envelope.ts";
import { encodeMessage } from "./message.ts";

/** The schema of a kind. Throws ApiError 406 if it has none, as custom kinds. */
export function requireSchema(schemaOf: SchemaOf, { apiVersion, kind }: TypeMeta): Schema {
  const schema = schemaOf(apiVersion, kind);
  if (schema !== undefined) return schema;
  const reason = "does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message";
  throw notAcceptable(`object *unstructured.Unstructured ${reason}`);
}

/** Encodes an object, Status or document with its envelope. Throws ApiError 406. */
export function encodeValue(value: Json, schemaOf: SchemaOf): Buffer {
  const object = isObject(value) ? value : {};
  const { kind = "", apiVersion = "" } = object;
  const type = { apiVersion: String(apiVersion), kind: String(kind) };
  return encodeObject(requireSchema(schemaOf, type), object);
}

/** The message of an object without envelope. Cached per view. */
export function messageOf(view: ObjectView, schema: Schema): Uint8Array {
  return keptMessage(view, "protobuf", schema);
}

/** The message of an object's PartialObjectMetadata without envelope. Cached per view. */
export function partialMessage(view: ObjectView, schema: Schema): Uint8Array {
  return keptMessage(view, "protobuf/partial", schema);
}

function keptMessage(view: ObjectView, name: string, schema: Schema): Uint8Array {
  let message = view.encodings.get(name);
  if (message === undefined) {
    message = encodeMessage(schema, view.object);
    view.encodings.set(name, message);
  }
  return message;
}

/** Encodes an object with its envelope. Throws ApiError 406. */
export function encodeView(view: ObjectView, schemaOf: SchemaOf): Buffer {
  const { object } = view;
  return wrapMessage(object, messageOf(view, requireSchema(schemaOf, object)));
}
