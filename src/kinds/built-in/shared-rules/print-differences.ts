import { isObject, type Json } from "../../../base/api/object.ts";

const CONTEXT = 3;

/** The differences of two values as lines with `-` and `+` and some context, like go-cmp's `diff.Diff`. */
export function printDifferences(previous: Json | undefined, next: Json | undefined): string {
  const before = linesOf(previous);
  const after = linesOf(next);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const from = Math.max(0, start - CONTEXT);
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const behind = before.slice(before.length - end, before.length - end + CONTEXT);
  const around = start - from + behind.length;
  const header = `@@ -${from + 1},${around + removed.length} +${from + 1},${around + added.length} @@`;
  return [
    header,
    ...before.slice(from, start).map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...behind.map((line) => ` ${line}`),
    "",
  ].join("\n");
}

function linesOf(value: Json | undefined): string[] {
  return JSON.stringify(sorted(value) ?? null, undefined, 1).split("\n");
}

/** The value with sorted fields, so that their order makes no difference. Frozen objects have the order of a Go struct. */
function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (!isObject(value) || Object.isFrozen(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((member) => [member, sorted(value[member])]),
  );
}
