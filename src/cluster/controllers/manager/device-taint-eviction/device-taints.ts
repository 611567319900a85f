import type { KubeObject } from "../../../../base/api/object.ts";
import type { AllocationResult, Device, DeviceTaint, SliceSpec } from "../../../../kinds/built-in/resource/types.ts";
import type { Condition } from "../../../../kinds/built-in/shared-rules/conditions.ts";
import type { ResourceClaim } from "../../shared/resource-claims.ts";
import { tolerates } from "../../shared/taints.ts";

/** ResourceSlice of resource.k8s.io/v1. */
export interface ResourceSlice extends KubeObject {
  spec?: SliceSpec;
}

/** DeviceTaintRule of resource.k8s.io/v1. */
export interface DeviceTaintRule extends KubeObject {
  spec?: { deviceSelector?: { driver?: string; pool?: string; device?: string }; taint?: DeviceTaint };
  status?: { conditions?: Condition[] };
}

/** When Pods must be evicted, and which rules are a reason for it. Taints of ResourceSlices may be further reasons. */
export interface Eviction {
  readonly atMs: number;
  readonly rules: ReadonlySet<DeviceTaintRule>;
}

/** A taint, and the rule that it comes from. Undefined for a taint of a ResourceSlice. */
export interface TrackedTaint {
  readonly taint: DeviceTaint;
  readonly rule: DeviceTaintRule | undefined;
}

/** The devices that a claim has. */
export function resultsOf({ status }: ResourceClaim): readonly AllocationResult[] {
  return status?.allocation?.devices?.results ?? [];
}

/** Key of a device: drivers, pools and devices have names without control characters. */
export const deviceKey = (driver = "", pool = "", device = ""): string => [driver, pool, device].join("\n");
/** Keys of the index of claims by device. */
export const claimDevices = (claim: ResourceClaim): string[] => [
  ...new Set(resultsOf(claim).map(({ driver, pool, device }) => deviceKey(driver, pool, device))),
];
/** Keys of the index of slices by pool. */
export const slicePool = ({ spec }: ResourceSlice): string[] => [deviceKey(spec?.driver, spec?.pool?.name)];

const generationOf = ({ spec }: ResourceSlice): number => spec?.pool?.generation ?? 0;

/** Keys of the index of slices by device. */
export const sliceDevices = ({ spec }: ResourceSlice): string[] =>
  (spec?.devices ?? []).map(({ name }) => deviceKey(spec?.driver, spec?.pool?.name, name));

/** Those of the slices that are not outdated: they have the newest generation of their pool. */
export function currentSlices(slices: Iterable<ResourceSlice>, pool: Iterable<ResourceSlice>): ResourceSlice[] {
  let newest = Number.NEGATIVE_INFINITY;
  for (const slice of pool) newest = Math.max(newest, generationOf(slice));
  return [...slices].filter((slice) => generationOf(slice) === newest);
}

/** Whether a taint evicts Pods. */
export const isEvicting = (taint: DeviceTaint | undefined): boolean => taint?.effect === "NoExecute";
/** The devices of a slice with a taint that evicts Pods. */
export const taintedDevices = ({ spec }: ResourceSlice): Device[] =>
  (spec?.devices ?? []).filter(({ taints }) => taints?.some(isEvicting));

/** Whether a rule selects a device. A rule without a selector selects none. */
export function selects({ spec }: DeviceTaintRule, driver = "", pool = "", device = ""): boolean {
  const selector = spec?.deviceSelector;
  if (selector === undefined) return false;
  const isSame = (wanted: string | undefined, name: string) => wanted === undefined || wanted === name;
  return isSame(selector.driver, driver) && isSame(selector.pool, pool) && isSame(selector.device, device);
}

/** When the Pods of an allocated device must be evicted. Undefined if it tolerates all taints forever. */
export function deviceEviction(
  { tolerations = [] }: AllocationResult,
  taints: readonly TrackedTaint[],
): Eviction | undefined {
  const evictions = taints.flatMap(({ taint, rule }) => {
    const matching = tolerations.filter((one) => one.effect === "NoExecute" && tolerates(one, taint));
    if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return [];
    const seconds = matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)));
    const shortest = seconds.reduce((least, one) => Math.min(least, one), seconds[0] ?? 0);
    const atMs = Date.parse(taint.timeAdded ?? "") + shortest * 1000;
    return [{ atMs, rules: new Set(rule ? [rule] : []) }];
  });
  return joined(evictions);
}

/** The earliest of several evictions, with the reasons of all. */
export function joined(evictions: readonly Eviction[]): Eviction | undefined {
  if (evictions.length === 0) return undefined;
  const atMs = evictions.reduce((least, one) => Math.min(least, one.atMs), Number.POSITIVE_INFINITY);
  return { atMs, rules: new Set(evictions.flatMap(({ rules }) => [...rules])) };
}
