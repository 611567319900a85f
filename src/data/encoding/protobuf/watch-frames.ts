import type { ObjectView } from "../../../base/api/reply.ts";
import type { Status } from "../../../base/api/status.ts";
import { WireWriter } from "../../../base/util/wire-writer.ts";
import { type SchemaOf, wrapMessage } from "./envelope.ts";
import { encodeValue, encodeView, partialMessage, requireSchema } from "./objects.ts";

/**
 * Encodes a watch event in protobuf, with the whole object or, for a `metadataVersion`, its PartialObjectMetadata.
 * Cached per view for all watchers. Throws ApiError 406.
 */
export function frameView(type: string, view: ObjectView, schemaOf: SchemaOf, metadataVersion?: string): Uint8Array {
  const key = metadataVersion === undefined ? `watch/${type}/protobuf` : `watch/${type}/protobuf/${metadataVersion}`;
  let frame = view.encodings.get(key);
  if (frame === undefined) {
    const envelope =
      metadataVersion === undefined ? encodeView(view, schemaOf) : encodeMetadata(view, schemaOf, metadataVersion);
    frame = frameEvent(type, envelope);
    view.encodings.set(key, frame);
  }
  return frame;
}

function encodeMetadata(view: ObjectView, schemaOf: SchemaOf, version: string): Buffer {
  const type = { apiVersion: `meta.k8s.io/${version}`, kind: "PartialObjectMetadata" };
  return wrapMessage(type, partialMessage(view, requireSchema(schemaOf, type)));
}

/** The ERROR event that ends a watch. */
export function frameStatus(status: Status, schemaOf: SchemaOf): Uint8Array {
  return frameEvent("ERROR", encodeValue(status, schemaOf));
}

const scratch = new WireWriter();

/** Four bytes of length, then a message of the event type and the object in its envelope. */
export function frameEvent(type: string, envelope: Uint8Array): Buffer {
  scratch.reset();
  scratch.bytes(envelope);
  scratch.delimit(1, 0);
  scratch.delimit(2, 0);
  const before = scratch.size;
  scratch.string(type);
  scratch.delimit(1, before);
  const { size } = scratch;
  scratch.bytes(Uint8Array.of(size >>> 24, size >>> 16, size >>> 8, size));
  return scratch.finish();
}
