import type { KubeObject } from "../../../base/api/object.ts";
import type { ObjectView } from "../../../base/api/reply.ts";

/** The PartialObjectMetadata of an object. */
export function partialMetadata(object: KubeObject, version: string): KubeObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

/** Compact JSON of an object's PartialObjectMetadata. Cached per view, and created without decoding if possible. */
export function partialJson(view: ObjectView, version: string): Uint8Array {
  const name = `partial/${version}`;
  const known = view.encodings.get(name);
  if (known !== undefined) return known;
  const metadata = metadataOf(view.json());
  const json =
    metadata === undefined
      ? Buffer.from(JSON.stringify(partialMetadata(view.object, version)))
      : Buffer.concat([headOf(version), metadata, CLOSING]);
  view.encodings.set(name, json);
  return json;
}

const CLOSING = Buffer.from("}");

function headOf(version: string): Buffer {
  return Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`);
}

// Kind and apiVersion never contain escapes, so this cannot match inside a string.
const HEAD = /^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{/;
const HEAD_BYTES = 400;

/** The metadata bytes of an object that begins with kind, apiVersion and metadata. Otherwise undefined. */
function metadataOf(json: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const head = HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES));
  if (head === null) return undefined;
  const start = head[0].length - 1;
  let open = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      for (at++; bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
    } else if (byte === 0x7b) open++;
    else if (byte === 0x7d && --open === 0) return bytes.subarray(start, at + 1);
  }
  return undefined;
}
