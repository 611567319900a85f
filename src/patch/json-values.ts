import type { Json } from "../api/object.ts";

// What Node 24 has and the compiler's library does not know yet.
const isRawJSON = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON;

/** Whether a value is a number that was kept digit by digit, because a double cannot hold it. */
export function isExactNumber(value: unknown): boolean {
  return isRawJSON(value);
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
  if (typeof value !== "object" || value === null || isExactNumber(value)) return String(JSON.stringify(value)).length;
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
