import type { FieldChange } from "../../../base/api/admission-trace.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import { sameValue } from "../../../data/patch/apply/typed.ts";

const MAX_CHANGES = 200;
const MAX_DEPTH = 64;

/** The fields that differ. An added or removed object is one change. Lists are compared by index. */
export function fieldChanges(before: Json | undefined, after: Json | undefined): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(before, after, "", changes, 0);
  return changes;
}

function compare(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  changes: FieldChange[],
  depth: number,
): void {
  if (changes.length >= MAX_CHANGES || sameValue(before, after)) return;
  const keys = depth < MAX_DEPTH ? commonKeys(before, after) : undefined;
  if (!keys) {
    changes.push({ path, ...(before !== undefined && { old: before }), ...(after !== undefined && { new: after }) });
    return;
  }
  for (const key of keys) {
    const inside = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    compare(memberOf(before, key), memberOf(after, key), inside, changes, depth + 1);
  }
}

/** The keys of two objects or two lists. Undefined for anything else. */
function commonKeys(before: Json | undefined, after: Json | undefined): Iterable<string> | undefined {
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => String(index));
  }
  if (isObject(before) && isObject(after)) return new Set([...Object.keys(before), ...Object.keys(after)]);
  return undefined;
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
