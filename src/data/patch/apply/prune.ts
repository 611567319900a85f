import type { JsonObject } from "../../../base/api/object.ts";
import {
  difference,
  EMPTY,
  type FieldSet,
  holdsAll,
  intersection,
  isEmpty,
  union,
  withNamedFields,
} from "./field-set.ts";
import { identify, type Manager, type Managers } from "./managers.ts";
import { removeItems } from "./remove.ts";
import { convertTo, type TrackingScope, type Versioned } from "./scope.ts";
import { setOf } from "./set-of.ts";

/**
 * Removes fields from the merged object that the manager applied last time, does not apply now, and no other manager
 * owns. `managers` already contains what the manager applies now.
 */
export function prune(
  scope: TrackingScope,
  merged: Versioned,
  managers: Managers,
  last: Manager | undefined,
): Versioned {
  if (last === undefined || isEmpty(last.fields)) return merged;
  if (isAppliedAgain(scope, merged, managers, last)) return merged;
  const start = convertTo(
    scope,
    merged,
    last.apiVersion,
    `${FAILED} to convert merged object to last applied version: `,
  );
  if (start === undefined) return merged;
  const lastNamed = withNamedFields(last.fields, start.shape);
  const pruned = { ...start, object: removeItems(start.shape, start.object, lastNamed) };
  const owned = keepOwned(scope, start, pruned, managers);
  const rest = keepDangling(scope, start, owned, lastNamed);
  return convertTo(scope, rest, scope.apiVersion, `${PRUNE_FAILED}: `) ?? rest;
}

/**
 * Whether the manager applies all it applied last time, so that nothing is pruned. False if several versions are
 * involved, because a conversion may fail and must be reported.
 */
function isAppliedAgain(scope: TrackingScope, { shape }: Versioned, managers: Managers, last: Manager): boolean {
  if (last.apiVersion !== scope.apiVersion) return false;
  for (const { apiVersion } of managers.values()) if (apiVersion !== scope.apiVersion) return false;
  const now = managers.get(identify(last));
  return now !== undefined && holdsAll(now.fields, last.fields, shape);
}

const PRUNE_FAILED = "failed to prune fields";
const FAILED = `${PRUNE_FAILED}: failed`;

function without(from: Versioned, set: FieldSet): Versioned {
  return { ...from, object: removeItems(from.shape, from.object, set) };
}

function namedSetOf({ shape, object }: Versioned): FieldSet {
  return withNamedFields(setOf(shape, object as JsonObject), shape);
}

/**
 * Adds back fields that another manager owns, version by version, the pruned one first. Upstream: `addBackOwnedItems`.
 */
function keepOwned(scope: TrackingScope, start: Versioned, pruned: Versioned, managers: Managers): Versioned {
  const byVersion = new Map<string, FieldSet>();
  const startFirst = [...managers.values()].sort(
    (left, right) => Number(right.apiVersion === start.apiVersion) - Number(left.apiVersion === start.apiVersion),
  );
  for (const { apiVersion, fields } of startFirst) {
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? EMPTY, fields));
  }
  const failed = `${FAILED} add back owned items: failed to convert`;
  let merged = start;
  let kept = pruned;
  for (const [apiVersion, owned] of byVersion) {
    const mergedHere = convertTo(scope, merged, apiVersion, `${failed} merged object at version ${apiVersion}: `);
    if (mergedHere === undefined) continue;
    merged = mergedHere;
    const keptHere = convertTo(scope, kept, apiVersion, `${failed} pruned object at version ${apiVersion}: `);
    if (keptHere === undefined) continue;
    const keep = union(namedSetOf(keptHere), withNamedFields(owned, merged.shape));
    kept = without(merged, difference(namedSetOf(merged), keep));
  }
  return kept;
}

/** Adds back fields that were removed although the manager had not applied them. Upstream: `addBackDanglingItems`. */
function keepDangling(scope: TrackingScope, merged: Versioned, pruned: Versioned, last: FieldSet): Versioned {
  const failed = `${FAILED} add back dangling items: failed to convert pruned object to last applied version: `;
  const here = convertTo(scope, pruned, merged.apiVersion, failed);
  if (here === undefined) return merged;
  const gone = difference(namedSetOf(merged), namedSetOf(here));
  return without(merged, intersection(gone, last));
}
