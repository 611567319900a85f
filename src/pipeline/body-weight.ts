/** A body, or a query, with fewer bytes cannot have enough values to hold anybody up. */
export const LIGHT_BYTES = 12 * 1024;
/** So many values of a body are worked on within 100 ms, whatever is wrong with each of them. */
const LIGHT_VALUES = 4000;

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** How Kubernetes' protobuf begins. */
const PROTOBUF_MAGIC = Buffer.from("k8s\0");

/**
 * Whether a body may have more values than can be worked on at once: it is large, or it is dense. In JSON and YAML every
 * value but the first of a list or object stands behind a comma or at the start of a line; in protobuf one may take two
 * bytes, and nothing tells how many there are before it is decoded.
 */
export function isHeavy(body: Uint8Array, maxBytes: number): boolean {
  if (body.length > maxBytes) return true;
  if (body.length <= LIGHT_BYTES) return false;
  if (PROTOBUF_MAGIC.equals(body.subarray(0, PROTOBUF_MAGIC.length))) return true;
  let values = 0;
  for (const byte of body) if (byte === COMMA || byte === LINE_FEED || byte === CARRIAGE_RETURN) values++;
  return values > LIGHT_VALUES;
}
