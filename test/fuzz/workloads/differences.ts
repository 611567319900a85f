import { isObject } from "../../../src/base/api/object.ts";
import { ANY } from "./event-counts.ts";

/** Where two snapshots differ. */
export interface Difference {
  readonly path: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** All differences between two values. `ANY` equals everything. */
export function differences(theirs: unknown, ours: unknown, path = ""): Difference[] {
  if (theirs === ANY || ours === ANY) return [];
  const areLists = Array.isArray(theirs) && Array.isArray(ours) && theirs.length === ours.length;
  if ((isObject(theirs) && isObject(ours)) || areLists) {
    const [left, right] = [theirs as Record<string, unknown>, ours as Record<string, unknown>];
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    return [...keys].flatMap((key) => differences(left[key], right[key], path === "" ? key : `${path} › ${key}`));
  }
  return Object.is(theirs, ours) || JSON.stringify(theirs) === JSON.stringify(ours) ? [] : [{ path, theirs, ours }];
}

/** One difference on three lines. */
export function printDifference({ path, theirs, ours }: Difference): string {
  const show = (value: unknown) => JSON.stringify(value)?.slice(0, 900) ?? "(absent)";
  return `    ${path}\n      theirs ${show(theirs)}\n      ours   ${show(ours)}`;
}
