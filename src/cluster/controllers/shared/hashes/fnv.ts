// As int32, so that the loops work on integers only.
const OFFSET_BASIS = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

/** 32-bit FNV-1. */
export function fnv32(bytes: Uint8Array): number {
  let hash = OFFSET_BASIS;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash, PRIME) ^ (bytes[at] ?? 0);
  return hash >>> 0;
}

/** 32-bit FNV-1a. `start` is the hash of the preceding bytes. Default: no bytes precede. */
export function fnv32a(bytes: Uint8Array, start: number = OFFSET_BASIS): number {
  let hash = start | 0;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return hash >>> 0;
}

const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** A hash as it appears in names and labels. Upstream: `rand.SafeEncodeString` of the decimal digits. */
export function encodeHash(hash: number): string {
  let text = "";
  for (const digit of String(hash)) text += LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length);
  return text;
}

/** 128-bit FNV-1a, as hexadecimal digits. The prime is 2^88 + 0x13b. */
export function fnv128a(bytes: Uint8Array): string {
  let [a, b, c, d] = [0x6c62272e, 0x07bb0142, 0x62b82175, 0x6295c58d];
  for (let at = 0; at < bytes.length; at++) {
    d = (d ^ (bytes[at] ?? 0)) >>> 0;
    const low = d * 0x13b;
    const second = c * 0x13b + Math.floor(low / 2 ** 32);
    const third = b * 0x13b + Math.floor(second / 2 ** 32) + ((d << 24) >>> 0);
    const high = a * 0x13b + Math.floor(third / 2 ** 32) + (((c << 24) | (d >>> 8)) >>> 0);
    [a, b, c, d] = [high >>> 0, third >>> 0, second >>> 0, low >>> 0];
  }
  return [a, b, c, d].map((word) => word.toString(16).padStart(8, "0")).join("");
}
