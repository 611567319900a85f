import { isObject, type Json, type JsonObject } from "../api/object.ts";
import { isExactInteger } from "../lib/exact-integer.ts";
import { setMember } from "../lib/members.ts";

/** The value without members that are null, in lists too. Items of lists that are null stay. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const [member, one] of Object.entries(value)) {
    if (one !== null && one !== undefined) setMember(kept, member, withoutNulls(one));
  }
  return kept;
}

/** About how many bytes the value takes as compact JSON; undefined when it is nested deeper than `maxDepth`. */
export function measureJson(value: Json, maxDepth: number): number | undefined {
  // A loop instead of recursion: a patch can nest a document deeper than the stack is.
  let level: Json[] = [value];
  let bytes = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return undefined;
    const next: Json[] = [];
    for (const one of level) bytes += measureLevel(one, next);
    level = next;
  }
  return bytes;
}

function measureLevel(value: Json, next: Json[]): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (typeof value !== "object" || value === null || isExactInteger(value)) return String(JSON.stringify(value)).length;
  if (Array.isArray(value)) {
    for (const item of value) next.push(item);
    return value.length + 1;
  }
  let bytes = 2;
  for (const member of Object.keys(value)) {
    bytes += Buffer.byteLength(member) + 4;
    next.push(value[member] ?? null);
  }
  return bytes;
}
