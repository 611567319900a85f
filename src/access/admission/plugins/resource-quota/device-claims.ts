import { isObject, type Json, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, type Quantity, subtractQuantities } from "../../../../base/api/quantity.ts";
import {
  type Amounts,
  addAmounts,
  countOf,
  greatestAmounts,
  NO_AMOUNTS,
} from "../../../../base/api/resource-amounts.ts";
import { isNumber } from "../../../../base/util/exact-integer.ts";
import type { ObjectAccess } from "../../../../resources/model/definition.ts";
import { countName, type Evaluator, isWrite } from "./evaluator.ts";
import { DEVICE_CLASS, isExtendedName, podUsage } from "./pods.ts";

const GROUP = "resource.k8s.io";
const OF_CLASS = ".deviceclass.resource.k8s.io/devices";
const REQUESTS = "requests.";
const FOR_POD = "resource.kubernetes.io/extended-resource-claim";
/** `AllocationResultsMaxSize`: maximum number of devices of one ResourceClaim. */
const MAX_DEVICES = 32;

/**
 * Evaluator of ResourceClaims: counts claims and the devices that they may get, by DeviceClass and by extended resource
 * name.
 */
export async function deviceClaimEvaluator(
  access: ObjectAccess,
  group: string,
  claim: KubeObject | undefined,
): Promise<Evaluator> {
  const count = countName(group, "resourceclaims");
  const extended = await extendedNames(access);
  const counted = claim ? await usageOfPod(access, claim) : NO_AMOUNTS;
  return {
    handles: isWrite,
    tracks(name) {
      if (name === count || name.endsWith(OF_CLASS)) return true;
      if (!isExtendedName(name)) return false;
      const resource = name.slice(REQUESTS.length);
      if (resource.startsWith(DEVICE_CLASS)) return extended.has(resource.slice(DEVICE_CLASS.length));
      return [...extended.values()].includes(resource);
    },
    usage(object) {
      const devices = devicesOf(object);
      const usage = new Map<string, Quantity>([[count, countOf(1)]]);
      for (const [className, amount] of devices) {
        usage.set(className + OF_CLASS, amount);
        const resource = extended.get(className);
        const names = [DEVICE_CLASS + className, ...(resource === undefined ? [] : [resource])];
        for (const name of names.map((one) => REQUESTS + one)) {
          // The pod has been charged for these already.
          const rest = subtractQuantities(amount, counted.get(name) ?? countOf(0));
          if (compareQuantities(rest, countOf(0)) > 0) usage.set(name, rest);
        }
      }
      return usage;
    },
  };
}

/** extendedResourceName by DeviceClass. */
async function extendedNames(access: ObjectAccess): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const { metadata, spec } of await access.list(GROUP, "deviceclasses", "", "any")) {
    if (isObject(spec) && typeof spec.extendedResourceName === "string") {
      names.set(metadata.name ?? "", spec.extendedResourceName);
    }
  }
  return names;
}

/** The usage that a ResourceClaim's pod has been charged for, if the claim was created for its extended resources. */
async function usageOfPod(access: ObjectAccess, { metadata }: KubeObject): Promise<Amounts> {
  if (metadata.annotations?.[FOR_POD] !== "true") return NO_AMOUNTS;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== "Pod" || owner.apiVersion !== "v1") return NO_AMOUNTS;
  const pod = await access.find("", "pods", { namespace: metadata.namespace ?? "", name: owner.name });
  if (!pod || pod.metadata.uid !== owner.uid) return NO_AMOUNTS;
  const claimed = isObject(pod.status) ? pod.status.extendedResourceClaimStatus : undefined;
  if (isObject(claimed) && claimed.resourceClaimName !== metadata.name) return NO_AMOUNTS;
  return podUsage(pod, access.clock.now());
}

/** The maximum number of devices of each DeviceClass that a ResourceClaim can get. */
function devicesOf({ spec }: KubeObject): Amounts {
  const devices = isObject(spec) && isObject(spec.devices) ? spec.devices : {};
  let total: Amounts = NO_AMOUNTS;
  for (const request of objectsIn(devices.requests)) {
    const choices = objectsIn(request.firstAvailable);
    const single = isObject(request.exactly) ? request.exactly : request;
    const amounts = choices.length > 0 ? greatestAmounts(...choices.map(devicesIn)) : devicesIn(single);
    total = addAmounts(total, amounts);
  }
  return total;
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function devicesIn({ deviceClassName, allocationMode, count }: JsonObject): Amounts {
  if (typeof deviceClassName !== "string" || deviceClassName === "") return NO_AMOUNTS;
  const exact = allocationMode === "ExactCount" && isNumber(count) ? Number(count) : 0;
  return new Map([[deviceClassName, countOf(allocationMode === "All" ? MAX_DEVICES : exact)]]);
}
