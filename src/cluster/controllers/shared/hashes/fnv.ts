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
