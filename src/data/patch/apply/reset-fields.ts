import {
  EMPTY,
  type FieldSet,
  fieldSetOf,
  hasChildren,
  isMember,
  type MutableFieldSet,
  recursiveDifference,
} from "./field-set.ts";
import { fieldName } from "./path-element.ts";

/** Keeps the fields of a FieldsV1 set that may be owned. Upstream: `fieldpath.Filter`. */
export type FieldFilter = (set: FieldSet) => FieldSet;

/** Removes these fields and everything below them: "status", "metadata.labels". */
export function allBut(...paths: readonly string[]): FieldFilter {
  const excluded = fieldSetOf(...paths);
  return (set) => recursiveDifference(set, excluded);
}

/** Keeps only these fields, their parents, and everything below them. A step `*` matches any step. */
export function nothingBut(...paths: readonly string[]): FieldFilter {
  const patterns = paths.map((path) => path.split("."));
  return (set) => keep(set, patterns);
}

function keep(set: FieldSet, patterns: readonly (readonly string[])[]): FieldSet {
  if (patterns.some((pattern) => pattern.length === 0)) return set;
  const out: MutableFieldSet = {};
  for (const element in set) {
    if (element === ".") continue;
    const name = fieldName(element);
    const fitting = patterns.filter(([step]) => step === "*" || (name !== undefined && step === name));
    if (fitting.length === 0) continue;
    const node = set[element] ?? EMPTY;
    const rests = fitting.map((pattern) => pattern.slice(1));
    const below = hasChildren(node) ? keep(node, rests) : EMPTY;
    const isSelf = isMember(node);
    if (hasChildren(below)) out[element] = isSelf && !("." in below) ? { ".": EMPTY, ...below } : below;
    else if (isSelf) out[element] = EMPTY;
  }
  return out;
}

/**
 * The default reset fields: writes to the object do not change its status, writes to its status do not change its spec.
 * Kinds that differ pass their own filters.
 */
export function defaultResetFields(subresource: string, hasStatus: boolean): FieldFilter | undefined {
  if (subresource === "status") return allBut("spec");
  return hasStatus && subresource === "" ? allBut("status") : undefined;
}
