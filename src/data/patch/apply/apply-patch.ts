import { badRequest, plainError } from "../../../base/api/api-error.ts";
import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import {
  type Change,
  type Conflicts,
  compareChange,
  NEVER_OWNED,
  reconcileManagers,
  takeFromOthers,
} from "./change-managers.ts";
import { applyConflict } from "./conflicts.ts";
import { difference, isEmpty } from "./field-set.ts";
import { CLIENT_SIDE_SUCCESSOR, takenOverFields, writeLastApplied } from "./last-applied.ts";
import { identify, ManagedFieldsError, type Manager, type Managers, parseManagers, printManagers } from "./managers.ts";
import { merge } from "./merge.ts";
import { prune } from "./prune.ts";
import { requireShapeOf, type TrackingScope, type Versioned, withoutManagedFields } from "./scope.ts";
import { setOf } from "./set-of.ts";
import { updateManagers } from "./track-update.ts";
import { sameValue, TypedError, typedValue, VersionError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** An apply request. */
export interface ApplyRequest {
  /** The stored object in the version of the endpoint. Undefined if it does not exist yet. */
  readonly live: KubeObject | undefined;
  /** The body as sent, without defaults. */
  readonly applied: JsonObject;
  readonly manager: string;
  readonly isForced: boolean;
  /** The time in seconds, as in `2006-01-02T15:04:05Z`. */
  readonly now: string;
}

/** The result of a merge, before managed fields are printed. */
interface Merged {
  readonly object: KubeObject;
  readonly managers: Managers;
}

/**
 * The object after an apply, with its new managed fields. It is not defaulted and may contain nulls and zeros, like a
 * body that a client sent. Throws ApiError: 400 for a body of another kind or with managed fields, 409 with a cause per
 * path that other managers own, 500 without a reason for what the schema does not allow.
 */
export function applyPatch(scope: TrackingScope, request: ApplyRequest): KubeObject {
  const { manager, live } = request;
  const applied = requireOwnKind(scope, request.applied);
  const managers = attributeEarlierFields(scope, requireManagers(live), request);
  requireFitting(scope, applied);
  if (scope.isUnstructured && live) requireFittingLive(scope, live);
  const { object, managers: after } = mergeChecked(scope, managers, { ...request, applied });
  const result = manager === CLIENT_SIDE_SUCCESSOR ? writeLastApplied(object, applied) : object;
  const managedFields = printManagers(after);
  const { managedFields: _, ...metadata } = result.metadata ?? {};
  return { ...result, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

function requireOwnKind(scope: TrackingScope, applied: JsonObject): KubeObject {
  const { apiVersion, kind } = applied;
  if (apiVersion !== scope.apiVersion || kind !== scope.kind) {
    throw badRequest(`invalid object type: ${describeKind(apiVersion, kind)}`);
  }
  const metadata = (applied.metadata ?? {}) as JsonObject;
  if (Array.isArray(metadata.managedFields)) throw badRequest("metadata.managedFields must be nil");
  return { ...applied, metadata } as KubeObject;
}

function requireFitting(scope: TrackingScope, applied: KubeObject): void {
  try {
    requireShape(requireShapeOf(scope), applied);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    throw plainError(500, `failed to create typed patch object (${describe(applied)}): ${error.message}`);
  }
}

/**
 * A stored object without a Go type may not match its schema: the schema was changed, or validation skipped that part.
 */
function requireFittingLive(scope: TrackingScope, live: KubeObject): void {
  try {
    requireShape(requireShapeOf(scope), withoutManagedFields(live), true);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    throw liveError(live, error);
  }
}

const liveError = (live: KubeObject, { message }: TypedError) =>
  plainError(500, `failed to create typed live object (${describe(live)}): ${message}`);

/** Namespace, name and kind of an object for messages. Upstream: `objectGVKNN`. */
function describe({ apiVersion, kind, metadata }: KubeObject): string {
  // Compat: `GetNamespace` and `GetName` of Unstructured return "" if the member is not a string.
  const text = (value: Json | undefined) => (typeof value === "string" ? value : "");
  return `${text(metadata.namespace)}/${text(metadata.name)}; ${describeKind(apiVersion, kind)}`;
}

/** Group, version and kind for messages: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
function describeKind(apiVersion: Json | undefined, kind: Json | undefined): string {
  const parts = typeof apiVersion === "string" ? apiVersion.split("/") : [];
  if (parts.length > 2) return "/, Kind=";
  const [group = "", version = ""] = parts.length === 2 ? parts : ["", ...parts];
  return `${group}/${version}, Kind=${typeof kind === "string" ? kind : ""}`;
}

function requireManagers(live: KubeObject | undefined): Managers {
  try {
    return parseManagers(live?.metadata.managedFields, true);
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    throw plainError(500, `failed to decode managed fields: ${error.message}`);
  }
}

type CheckedRequest = ApplyRequest & { readonly applied: KubeObject };

/** Merges, and reports a stored object that does not match its schema: it can be updated, but not applied to. */
function mergeChecked(scope: TrackingScope, managers: Managers, request: CheckedRequest): Merged {
  try {
    return mergeOrTakeOver(scope, managers, request);
  } catch (error) {
    if (error instanceof VersionError) throw plainError(500, error.message);
    if (error instanceof TypedError) throw liveError(request.live ?? request.applied, error);
    throw error;
  }
}

/**
 * Compat: kubectl's server-side apply may change fields that `kubectl-client-side-apply` had set, even if another
 * manager owns them. Upstream: `lastAppliedManager`.
 */
function mergeOrTakeOver(scope: TrackingScope, start: Managers, request: CheckedRequest): Merged {
  const first = mergeApplied(scope, start, request);
  if (!isConflicts(first)) return first;
  const { live, manager } = request;
  const taken = manager === CLIENT_SIDE_SUCCESSOR && live !== undefined ? takenOverFields(scope, live) : undefined;
  if (taken === undefined) throw applyConflict(first, start);
  const left = new Map([...first].map(([id, fields]) => [id, difference(fields, taken)] as const));
  for (const [id, fields] of left) if (isEmpty(fields)) left.delete(id);
  if (left.size > 0) throw applyConflict(left, start);
  const second = mergeApplied(scope, start, { ...request, isForced: true });
  if (isConflicts(second)) throw applyConflict(second, start);
  return second;
}

function isConflicts(outcome: Merged | Conflicts): outcome is Conflicts {
  return outcome instanceof Map;
}

/**
 * Compat: fields of an object without managedFields belong to the manager "before-first-apply". Upstream:
 * `skipNonAppliedManager`, which runs before the patch is decoded.
 */
function attributeEarlierFields(scope: TrackingScope, managers: Managers, { live, now }: ApplyRequest): Managers {
  if (managers.size > 0 || live === undefined) return managers;
  try {
    // An update of an object that does not match its schema is allowed. Here it is an error.
    requireShape(requireShapeOf(scope), withoutManagedFields(live), true);
    return updateManagers(scope, managers, { live: undefined, next: live, manager: "before-first-apply", now });
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    const text = `failed to convert new object (${describe(live)}) to smd typed: ${error.message}`;
    throw plainError(500, `failed to create manager for existing fields: ${text}`);
  }
}

function mergeApplied(scope: TrackingScope, before: Managers, request: CheckedRequest): Merged | Conflicts {
  const { apiVersion, kind, subresource = "" } = scope;
  const { applied, manager: name, isForced, now } = request;
  const shape = requireShapeOf(scope);
  const stored = request.live ?? ({ apiVersion, kind } as KubeObject);
  const live: Versioned = { object: typedValue(shape, withoutManagedFields(stored)) as JsonObject, apiVersion, shape };
  const managers = reconcileManagers(scope, live, before);
  const owner = { name, operation: "Apply", apiVersion, subresource } as const;
  const self = identify(owner);
  const last = managers.get(self);
  const owned = setOf(shape, applied);
  const manager: Manager = { ...owner, time: last?.time, fields: scope.resetFields?.(apiVersion)?.(owned) ?? owned };
  managers.set(self, manager);
  const merged = { object: merge(shape, live.object, applied), apiVersion, shape };
  const next = prune(scope, merged, managers, last);
  const change: Change = { live, next, nextIsRaw: true };
  const comparison = compareChange(scope, change);
  const conflicts = takeFromOthers(scope, managers, change, { self, comparison, isForced });
  if (!isForced && conflicts.size > 0) return conflicts;
  const isChanged = !sameValue(live.object, next.object);
  keepOwner(managers, self, { ...manager, time: isChanged ? now : manager.time });
  return { object: (isChanged ? next.object : withoutManagedFields(stored)) as KubeObject, managers };
}

function keepOwner(managers: Managers, id: string, manager: Manager): void {
  const fields = difference(manager.fields, NEVER_OWNED);
  if (isEmpty(fields)) managers.delete(id);
  else managers.set(id, { ...manager, fields });
}
