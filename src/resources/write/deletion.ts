import type { KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import type { DeletionRequest } from "../model/write-request.ts";
import { printTime } from "./metadata.ts";

/** What to do with the stored object. "none": it is already being deleted and does not change. */
export type DeletionPlan =
  | { readonly action: "remove" }
  | { readonly action: "mark"; readonly next: KubeObject; readonly thenRemove: boolean }
  | { readonly action: "none" };

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/**
 * Decides what a DELETE does to an object in its current state. Does not change `current`. Upstream: `BeforeDelete` and
 * `deletionFinalizersForGarbageCollection`.
 */
export function planDeletion(
  definition: ResourceDefinition,
  current: KubeObject,
  request: DeletionRequest,
  nowMs: number,
): DeletionPlan {
  const next = cloneJson(current);
  const begin = definition.hooks?.beginDeletion;
  if (begin && current.metadata.deletionTimestamp === undefined) {
    next.metadata.deletionTimestamp = printTime(nowMs);
    begin(next, nowMs);
    return { action: "mark", next, thenRemove: false };
  }
  adjustFinalizers(definition, next, request);
  const isHeld = (next.metadata.finalizers?.length ?? 0) > 0 || (definition.hooks?.isHeld?.(next) ?? false);
  const graceOf = definition.hooks?.gracePeriodSeconds;
  if (!graceOf) {
    if (!isHeld) return { action: "remove" };
    return markOnce(definition, current, next, nowMs);
  }
  const requested = request.gracePeriodSeconds;
  if (current.metadata.deletionTimestamp !== undefined && (current.metadata.deletionGracePeriodSeconds ?? 0) > 0) {
    return shorten(current, next, requested, nowMs, isHeld);
  }
  if (current.metadata.deletionTimestamp !== undefined) return isHeld ? changed(current, next) : { action: "remove" };
  const grace = Math.max(0, graceOf(current, requested === undefined ? undefined : requested < 0 ? 1 : requested));
  next.metadata.deletionTimestamp = printTime(nowMs + grace * 1000);
  next.metadata.deletionGracePeriodSeconds = grace;
  markGeneration(definition, next);
  return { action: "mark", next, thenRemove: grace === 0 && !isHeld };
}

/** Sets deletionTimestamp on an object with finalizers. It is set once; later calls may still change the finalizers. */
function markOnce(definition: ResourceDefinition, current: KubeObject, next: KubeObject, nowMs: number): DeletionPlan {
  if (current.metadata.deletionTimestamp !== undefined) return changed(current, next);
  next.metadata.deletionTimestamp = printTime(nowMs);
  if (!definition.hooks?.isHeld) next.metadata.deletionGracePeriodSeconds = 0;
  markGeneration(definition, next);
  return { action: "mark", next, thenRemove: false };
}

function markGeneration(definition: ResourceDefinition, next: KubeObject): void {
  if ((next.metadata.generation ?? 0) > 0) next.metadata.generation = (next.metadata.generation ?? 0) + 1;
  definition.hooks?.markDeleted?.(next);
}

function changed(current: KubeObject, next: KubeObject): DeletionPlan {
  const before = current.metadata.finalizers ?? [];
  const after = next.metadata.finalizers ?? [];
  const isSame = before.length === after.length && before.every((finalizer, index) => finalizer === after[index]);
  return isSame ? { action: "none" } : { action: "mark", next, thenRemove: false };
}

/** A second DELETE may only shorten deletionGracePeriodSeconds. */
function shorten(
  current: KubeObject,
  next: KubeObject,
  requested: number | undefined,
  nowMs: number,
  isHeld: boolean,
): DeletionPlan {
  const stored = current.metadata.deletionGracePeriodSeconds ?? 0;
  const wanted = requested === undefined ? stored : requested < 0 ? 1 : requested;
  if (wanted >= stored) return { action: "none" };
  const began = Date.parse(current.metadata.deletionTimestamp ?? "") - stored * 1000;
  let grace = wanted;
  let end = began + grace * 1000;
  if (end < nowMs) {
    grace = wanted === 0 ? 0 : 1;
    end = nowMs;
  }
  next.metadata.deletionTimestamp = printTime(end);
  next.metadata.deletionGracePeriodSeconds = grace;
  return { action: "mark", next, thenRemove: grace === 0 && !isHeld };
}

/** Adds or removes the finalizers orphan and foregroundDeletion according to propagationPolicy. */
function adjustFinalizers(definition: ResourceDefinition, next: KubeObject, request: DeletionRequest): void {
  const common = definition.rules.garbageCollection ?? "delete";
  if (common === "unsupported") return;
  const before = next.metadata.finalizers ?? [];
  const policy = policyOf(request);
  let wanted: readonly string[];
  if (policy === undefined) {
    if (before.includes(ORPHAN) || before.includes(FOREGROUND)) return;
    wanted = common === "orphan" ? [ORPHAN] : [];
  } else {
    wanted = policy === "Orphan" ? [ORPHAN] : policy === "Foreground" ? [FOREGROUND] : [];
  }
  const after = before.filter((one) => one !== ORPHAN && one !== FOREGROUND);
  for (const one of wanted) after.push(one);
  if (after.length === 0) delete next.metadata.finalizers;
  else next.metadata.finalizers = after;
}

function policyOf({ propagationPolicy, orphanDependents }: DeletionRequest): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
  return propagationPolicy;
}

/**
 * Whether an update leaves an object with a deletionTimestamp without finalizers, so it must be removed now. Upstream:
 * `ShouldDeleteDuringUpdate`.
 */
export function isReleased(definition: ResourceDefinition, next: KubeObject, current: KubeObject): boolean {
  if (current.metadata.deletionTimestamp === undefined) return false;
  if ((current.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  if ((next.metadata.finalizers?.length ?? 0) > 0) return false;
  return !(definition.hooks?.isHeld?.(next) ?? false);
}
