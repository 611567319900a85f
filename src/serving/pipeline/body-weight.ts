import { isObject, type Json } from "../../base/api/object.ts";

/** A body or query of up to this size has too few values to block the event loop noticeably. */
export const LIGHT_BYTES = 12 * 1024;
/** This many values of a body are processed within 100 ms, even if each of them is invalid. */
const LIGHT_VALUES = 4000;

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Prefix of the Kubernetes protobuf encoding. */
const PROTOBUF_MAGIC = Buffer.from("k8s\0");

/**
 * Whether a body may have too many values to process on the main thread: it is larger than `maxBytes`, or it is dense.
 * In JSON and YAML every value but the first of a list or object follows a comma or a line break. In protobuf a value
 * may take only two bytes and the count is unknown before decoding, so any body over LIGHT_BYTES is heavy.
 */
export function isHeavy(body: Uint8Array, maxBytes: number): boolean {
  if (body.length > maxBytes) return true;
  if (body.length <= LIGHT_BYTES) return false;
  if (PROTOBUF_MAGIC.equals(body.subarray(0, PROTOBUF_MAGIC.length))) return true;
  let values = 0;
  for (const byte of body) if (byte === COMMA || byte === LINE_FEED || byte === CARRIAGE_RETURN) values++;
  return values > LIGHT_VALUES;
}

/** Whether a value has too many members, or too much text, to process on the main thread. Reads no more than that. */
export function isHeavyValue(value: Json | undefined, maxBytes: number): boolean {
  const rest: (Json | undefined)[] = [value];
  let bytes = 0;
  for (let values = 0; rest.length > 0; values++) {
    const one = rest.pop();
    if (values > LIGHT_VALUES || bytes > maxBytes) return true;
    if (typeof one === "string") bytes += one.length;
    else if (Array.isArray(one)) {
      if (one.length > LIGHT_VALUES) return true;
      for (const item of one) rest.push(item);
    } else if (isObject(one)) {
      for (const [name, member] of Object.entries(one)) {
        bytes += name.length;
        rest.push(member);
      }
    }
  }
  return bytes > maxBytes;
}
