import { type Comparison, compare, touchedBy } from "./compare.ts";
import { difference, type FieldSet, fieldSetOf, intersection, isEmpty, union } from "./field-set.ts";
import { dropIdle, type Managers } from "./managers.ts";
import { reconcile } from "./reconcile.ts";
import { convertTo, shapeIn, type TrackingScope, type Versioned } from "./scope.ts";
import { VersionError } from "./typed.ts";

/** Paths that are never owned. Upstream: `stripSet` of `stripMetaManager`. */
export const NEVER_OWNED: FieldSet = fieldSetOf(
  "apiVersion",
  "kind",
  "metadata",
  "metadata.name",
  "metadata.namespace",
  "metadata.creationTimestamp",
  "metadata.selfLink",
  "metadata.uid",
  "metadata.clusterName",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.resourceVersion",
);

/** Fields that other managers own and a change would take from them, by manager identity. */
export type Conflicts = ReadonlyMap<string, FieldSet>;

const NO_CONFLICTS: Conflicts = new Map();

/** A change of an object, to be compared in the version of each manager. */
export interface Change {
  readonly live: Versioned;
  readonly next: Versioned;
  /** Whether `next` has not been through typed decoding yet. */
  readonly nextIsRaw: boolean;
}

/**
 * Updates FieldsV1 sets to the current schemas and drops managers whose version no longer exists. Throws VersionError
 * if the live object does not match the version of a manager, or if a required version no longer exists. Upstream:
 * `reconcileManagedFieldsWithSchemaChanges`.
 */
export function reconcileManagers(scope: TrackingScope, live: Versioned, managers: Managers): Managers {
  const out: Managers = new Map();
  const fitting = new Set<string>();
  for (const [id, manager] of managers) {
    const shape = shapeIn(scope, manager.apiVersion);
    if (shape === undefined) {
      if (!scope.refusesUnknownVersions) continue;
      // Compat: the error of `crConverter.ConvertToVersion`, which is not an `IsMissingVersionError`.
      throw new VersionError(`request to convert CR to an invalid group/version: ${manager.apiVersion}`);
    }
    if (scope.isUnstructured === true && !fitting.has(manager.apiVersion)) {
      convertTo(scope, live, manager.apiVersion);
      fitting.add(manager.apiVersion);
    }
    const fields = reconcile(shape, manager.fields);
    out.set(id, fields === manager.fields ? manager : { ...manager, fields });
  }
  return out;
}

/** Compares in the version of the scope, without the fields that the endpoint may not change. */
export function compareChange(scope: TrackingScope, { live, next, nextIsRaw }: Change): Comparison {
  return filtered(scope, live.apiVersion, compare(live.shape, live.object, next.object, { rightIsRaw: nextIsRaw }));
}

function filtered(scope: TrackingScope, apiVersion: string, comparison: Comparison): Comparison {
  const filter = scope.resetFields?.(apiVersion);
  if (filter === undefined) return comparison;
  const { added, modified, removed } = comparison;
  return { added: filter(added), modified: filter(modified), removed: filter(removed) };
}

/**
 * Removes the fields that the change touches from all managers but `self`, each in its own version. Returns the
 * conflicts. Without `isForced`, managers are not modified if there are conflicts.
 */
export function takeFromOthers(
  scope: TrackingScope,
  managers: Managers,
  change: Change,
  options: { readonly self: string; readonly comparison: Comparison; readonly isForced: boolean },
): Conflicts {
  if (managers.size === 0) return NO_CONFLICTS;
  const byVersion = new Map<string, Comparison | undefined>([[scope.apiVersion, options.comparison]]);
  const conflicts = new Map<string, FieldSet>();
  const changed: Managers = new Map();
  for (const [id, manager] of managers) {
    if (id === options.self) {
      changed.set(id, manager);
      continue;
    }
    const { apiVersion, fields } = manager;
    if (!byVersion.has(apiVersion)) byVersion.set(apiVersion, compareIn(scope, change, apiVersion));
    const comparison = byVersion.get(apiVersion);
    // The version no longer exists, so its managers are dropped.
    if (comparison === undefined) continue;
    const conflict = intersection(fields, union(comparison.modified, comparison.added));
    if (!isEmpty(conflict)) conflicts.set(id, conflict);
    const rest = difference(fields, touchedBy(comparison));
    changed.set(id, rest === fields ? manager : { ...manager, fields: rest });
  }
  if (!options.isForced && conflicts.size > 0) return conflicts;
  managers.clear();
  for (const [id, manager] of changed) managers.set(id, manager);
  dropIdle(managers);
  return conflicts;
}

function compareIn(
  scope: TrackingScope,
  { live, next, nextIsRaw }: Change,
  apiVersion: string,
): Comparison | undefined {
  const oldVersion = convertTo(scope, live, apiVersion, "failed to convert old object: ");
  const newVersion = convertTo(scope, next, apiVersion, "failed to convert new object: ");
  if (oldVersion === undefined || newVersion === undefined) return undefined;
  const options = { rightIsRaw: nextIsRaw && scope.isUnstructured === true };
  return filtered(scope, apiVersion, compare(oldVersion.shape, oldVersion.object, newVersion.object, options));
}
