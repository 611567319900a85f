import type { KeyBytes } from "./messages.ts";

/** Keys from `key` up to but excluding `rangeEnd`, as in etcd's requests. */
export interface EtcdRange {
  readonly key: KeyBytes;
  readonly rangeEnd: KeyBytes;
}

/** etcd treats a single zero byte as "from the first key" and, as an end, as "to the last key". */
const EVERYTHING = Uint8Array.of(0);

/** The range of all keys that start with `prefix`. */
export function prefixRange(prefix: string): EtcdRange {
  const bytes = Buffer.from(prefix);
  return { key: bytes.length === 0 ? EVERYTHING : bytes, rangeEnd: endOfPrefix(bytes) };
}

/** The part of a prefix after the key `after`; undefined if it is empty. */
export function prefixRangeAfter(prefix: string, after: string): EtcdRange | undefined {
  const whole = prefixRange(prefix);
  // The smallest key greater than another is that key plus a zero byte.
  const start = Buffer.from(`${after}\0`);
  if (Buffer.compare(start, Buffer.from(prefix)) <= 0) return whole;
  const end = whole.rangeEnd;
  if (end !== EVERYTHING && Buffer.compare(start, Buffer.from(end)) >= 0) return undefined;
  return { key: start, rangeEnd: end };
}

function endOfPrefix(prefix: Uint8Array): Uint8Array {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const byte = prefix[last] ?? 255;
    if (byte === 255) continue;
    const end = Uint8Array.from(prefix.subarray(0, last + 1));
    end[last] = byte + 1;
    return end;
  }
  return EVERYTHING;
}
