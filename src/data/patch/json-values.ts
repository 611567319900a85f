import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { setMember } from "../../base/util/members.ts";

/** The value without null members, also inside lists. Null list items are kept. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const [member, one] of Object.entries(value)) {
    if (one !== null && one !== undefined) setMember(kept, member, withoutNulls(one));
  }
  return kept;
}

/** Approximate size of the value as compact JSON. Undefined if it is nested deeper than `maxDepth`. */
export function measureJson(value: Json, maxDepth: number): number | undefined {
  // Iterative: a patch can nest a document deeper than the stack allows.
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

/** The number of values in a value, with itself. */
export function countValues(value: Json): number {
  const waiting: Json[] = [value];
  let count = 0;
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    count += 1;
    if (typeof one !== "object" || one === null || isExactInteger(one)) continue;
    for (const below of Array.isArray(one) ? one : Object.values(one)) waiting.push(below ?? null);
  }
  return count;
}
