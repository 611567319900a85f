import type { AllocationResult, Device, DeviceTaint } from "../../../../kinds/built-in/resource/types.ts";
import { type DeviceTaintRule, deviceKey, type ResourceSlice } from "../../shared/resource-slices.ts";
import { tolerates } from "../../shared/taints.ts";

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

/** Keys of the index of slices by device. */
export const sliceDevices = ({ spec }: ResourceSlice): string[] =>
  (spec?.devices ?? []).map(({ name }) => deviceKey(spec?.driver, spec?.pool?.name, name));

/** Whether a taint evicts Pods. */
export const isEvicting = (taint: DeviceTaint | undefined): boolean => taint?.effect === "NoExecute";
/** The devices of a slice with a taint that evicts Pods. */
export const taintedDevices = ({ spec }: ResourceSlice): Device[] =>
  (spec?.devices ?? []).filter(({ taints }) => taints?.some(isEvicting));

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
