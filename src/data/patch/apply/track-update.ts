import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { capManagers } from "./cap-managers.ts";
import { type Change, compareChange, NEVER_OWNED, reconcileManagers, takeFromOthers } from "./change-managers.ts";
import { type CreatorFields, ownedByCreator } from "./created-fields.ts";
import { difference, type FieldSet, isEmpty, union } from "./field-set.ts";
import { identify, ManagedFieldsError, type Manager, type Managers, parseManagers, printManagers } from "./managers.ts";
import { requireShapeOf, type TrackingScope, type Versioned, withoutManagedFields } from "./scope.ts";
import { sameValue, TypedError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** A write other than an apply: create, replace, or another patch type. */
export interface UpdateToTrack {
  /** The stored object in the version of the endpoint. Undefined if the write creates it. */
  readonly live: KubeObject | undefined;
  /** The object to store, defaulted, with the managed fields that the client sent, if any. */
  readonly next: KubeObject;
  /** The field manager. */
  readonly manager: string;
  /** The time in seconds, as in `2006-01-02T15:04:05Z`. */
  readonly now: string;
}

/** The managed fields after a write. */
export interface Tracked {
  /** `metadata.managedFields`. Undefined if there are none. */
  readonly managedFields: Json[] | undefined;
  /** The fieldsV1 of the only entry, if the write creates the object. */
  readonly creatorFields?: CreatorFields;
}

/**
 * Computes `metadata.managedFields` after the write. Never fails: if ownership cannot be computed, it does not change.
 * Returns the live entries themselves if nothing changes.
 */
export function trackUpdate(scope: TrackingScope, update: UpdateToTrack): Tracked {
  const { live, next } = update;
  const stored = live?.metadata.managedFields;
  try {
    if (scope.isUnstructured === true) requireTyped(scope, live, next);
    const managers = startingManagers(scope, live, next);
    if (managers.size === 0) {
      // Compat: an object without managedFields stays untracked until the first apply (`skipNonAppliedManager`). A
      // create always starts tracking.
      return live === undefined ? trackCreate(scope, update) : { managedFields: undefined };
    }
    const printed = printManagers(updateManagers(scope, managers, update));
    return { managedFields: sameValue(printed, stored) ? stored : printed };
  } catch (error) {
    if (error instanceof TypedError) return { managedFields: stored };
    throw error;
  }
}

/**
 * Compat: `ObjectToTyped` fails for what the schema does not allow, also in parts that the write does not change.
 * Ownership then does not change (structuredMergeManager.Update). Throws TypedError.
 */
function requireTyped(scope: TrackingScope, live: KubeObject | undefined, next: KubeObject): void {
  const shape = requireShapeOf(scope);
  requireShape(shape, withoutManagedFields(next), true);
  if (live) requireShape(shape, withoutManagedFields(live), true);
}

function trackCreate(scope: TrackingScope, update: UpdateToTrack): Tracked {
  const managers: Managers = new Map();
  const creatorFields = ownCreated(scope, managers, update);
  return { managedFields: printManagers(managers), creatorFields };
}

/** Makes the writer the only manager of a new object. */
function ownCreated(scope: TrackingScope, managers: Managers, update: UpdateToTrack): CreatorFields {
  const object = withoutManagedFields(update.next);
  const owned = ownedByCreator(scope, object, () => takeOver(scope, managers, changeOf(scope, update)));
  if (!isEmpty(owned.fields)) claim(scope, managers, update, owned.fields);
  return owned;
}

/** Compat: clients may edit `metadata.managedFields`, but not through a subresource. `[]` and `[{}]` reset them. */
function startingManagers(scope: TrackingScope, live: KubeObject | undefined, next: KubeObject): Managers {
  const stored = live?.metadata.managedFields;
  const sent = next.metadata.managedFields;
  const isSubresource = scope.subresource !== undefined && scope.subresource !== "";
  if (isSubresource || sent === undefined || sent === null || sent === stored) return readable(stored, true);
  if (isReset(sent) && !(scope.isUnstructured === true && sent.length === 0)) return new Map();
  if (sameValue(sent, stored)) return readable(stored, true);
  const managers = readable(sent, false);
  return managers.size > 0 ? managers : readable(stored, true);
}

function isReset(entries: readonly Json[]): boolean {
  const [first] = entries;
  return entries.length === 0 || (entries.length === 1 && isObject(first) && Object.keys(first).length === 0);
}

function readable(entries: readonly Json[] | undefined, isTrusted: boolean): Managers {
  try {
    return parseManagers(entries, isTrusted);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

/** The managers after an update by `manager`, which takes over the fields it changed. Throws TypedError. */
export function updateManagers(scope: TrackingScope, managers: Managers, update: UpdateToTrack): Managers {
  const change = changeOf(scope, update);
  const out = reconcileManagers(scope, change.live, managers);
  if (update.live === undefined && managers.size === 0) {
    ownCreated(scope, out, update);
    return out;
  }
  const own = takeOver(scope, out, change);
  if (!isEmpty(own)) claim(scope, out, update, own);
  capManagers(out);
  return out;
}

/** The fields that the writer owns by this update. Removes them from all managers. */
function takeOver(scope: TrackingScope, managers: Managers, change: Change): FieldSet {
  const comparison = compareChange(scope, change);
  takeFromOthers(scope, managers, change, { self: "", comparison, isForced: true });
  return difference(union(comparison.modified, comparison.added), NEVER_OWNED);
}

function changeOf(scope: TrackingScope, { live, next }: UpdateToTrack): Change {
  const { apiVersion, kind } = scope;
  const shape = requireShapeOf(scope);
  const versioned = (object: KubeObject): Versioned => ({ object: withoutManagedFields(object), apiVersion, shape });
  const before = versioned(live ?? ({ apiVersion, kind } as KubeObject));
  return { live: before, next: versioned(next), nextIsRaw: false };
}

function claim(scope: TrackingScope, managers: Managers, { manager: name, now }: UpdateToTrack, own: FieldSet): void {
  const { apiVersion, subresource = "" } = scope;
  const manager: Manager = { name, operation: "Update", apiVersion, subresource, time: now, fields: own };
  const id = identify(manager);
  const previous = managers.get(id);
  managers.set(id, previous === undefined ? manager : { ...manager, fields: union(own, previous.fields) });
}
