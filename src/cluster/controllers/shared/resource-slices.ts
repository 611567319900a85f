import type { KubeObject } from "../../../base/api/object.ts";
import type { AllocationResult, DeviceTaint, SliceSpec } from "../../../kinds/built-in/resource/types.ts";
import type { Condition } from "../../../kinds/built-in/shared-rules/conditions.ts";
import type { ResourceClaim } from "./resource-claims.ts";

/** ResourceSlice of resource.k8s.io/v1. */
export interface ResourceSlice extends KubeObject {
  spec?: SliceSpec;
}

/** DeviceTaintRule of resource.k8s.io/v1. */
export interface DeviceTaintRule extends KubeObject {
  spec?: { deviceSelector?: { driver?: string; pool?: string; device?: string }; taint?: DeviceTaint };
  status?: { conditions?: Condition[] };
}

/** The devices that a claim has. */
export function resultsOf({ status }: Pick<ResourceClaim, "status">): readonly AllocationResult[] {
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

/** Those of the slices that are not outdated: they have the newest generation of their pool. */
export function currentSlices(slices: Iterable<ResourceSlice>, pool: Iterable<ResourceSlice>): ResourceSlice[] {
  let newest = Number.NEGATIVE_INFINITY;
  for (const slice of pool) newest = Math.max(newest, generationOf(slice));
  return [...slices].filter((slice) => generationOf(slice) === newest);
}

/** Whether a rule selects a device. A rule without a selector selects none. */
export function selects({ spec }: DeviceTaintRule, driver = "", pool = "", device = ""): boolean {
  const selector = spec?.deviceSelector;
  if (selector === undefined) return false;
  const isSame = (wanted: string | undefined, name: string) => wanted === undefined || wanted === name;
  return isSame(selector.driver, driver) && isSame(selector.pool, pool) && isSame(selector.device, device);
}
