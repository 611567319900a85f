import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { DefaultsContext } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { FLAT_VERSION } from "./conversion.ts";

const objectsIn = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** Defaults of a DeviceRequest: `allocationMode` ExactCount and `count` 1. */
function completeRequest(request: JsonObject): void {
  request.allocationMode ??= "ExactCount";
  if (request.allocationMode === "ExactCount") request.count ??= 1;
}

function completeTolerations({ tolerations }: JsonObject): void {
  for (const toleration of objectsIn(tolerations)) toleration.operator ??= "Equal";
}

/** Sets defaults of DeviceRequests and DeviceTolerations; `claim` is a ResourceClaimSpec. */
export function setClaimDefaults(claim: Json | undefined, apiVersion: string): void {
  const { devices } = isObject(claim) ? claim : {};
  for (const request of objectsIn(isObject(devices) ? devices.requests : [])) {
    const main = apiVersion === FLAT_VERSION ? request : request.exactly;
    if (isObject(main)) {
      completeTolerations(main);
      // In v1beta1, a request without a class has alternatives instead.
      if (main !== request || request.deviceClassName) completeRequest(main);
    }
    for (const alternative of objectsIn(request.firstAvailable)) {
      completeTolerations(alternative);
      completeRequest(alternative);
    }
  }
}

/** Defaults `timeAdded` of a DeviceTaint to now. */
export function setTaintTime(taint: Json | undefined, { clock }: DefaultsContext): void {
  if (isObject(taint)) taint.timeAdded ??= printTime(clock.now());
}

/** Sets `timeAdded` of the DeviceTaints in a ResourceSlice. */
export function setSliceDefaults({ spec }: KubeObject, _apiVersion: string, context: DefaultsContext): void {
  for (const device of objectsIn(isObject(spec) ? spec.devices : [])) {
    const { taints } = isObject(device.basic) ? device.basic : device;
    for (const taint of objectsIn(taints)) setTaintTime(taint, context);
  }
}
