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

/** Leaves in a FieldsV1 set what may be owned. Upstream: `fieldpath.Filter`. */
export type FieldFilter = (set: FieldSet) => FieldSet;

/** All but these fields and everything below them: "status", "metadata.labels". */
export function allBut(...paths: readonly string[]): FieldFilter {
  const excluded = fieldSetOf(...paths);
  return (set) => recursiveDifference(set, excluded);
}

/** Only these fields, the members on the way to them, and everything below them. A step `*` is any step. */
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
 * The common reset fields: writes to the object do not touch its status, writes to its status do not touch its spec.
 * Kinds that differ pass their own filters.
 */
export function commonResetFields(subresource: string, hasStatus: boolean): FieldFilter | undefined {
  if (subresource === "status") return allBut("spec");
  return hasStatus && subresource === "" ? allBut("status") : undefined;
}
