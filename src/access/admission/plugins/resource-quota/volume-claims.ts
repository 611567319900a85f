import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../../base/api/quantity.ts";
import { countOf, roundUp } from "../../../../base/api/resource-amounts.ts";
import { storageClassOf } from "../storage-class-name.ts";
import { countName, type Evaluator, isWrite } from "./evaluator.ts";
import { matchesNames } from "./quota.ts";

const COUNT = countName("", "persistentvolumeclaims");
const CLAIMS = "persistentvolumeclaims";
const STORAGE = "requests.storage";
const OF_CLASS = ".storageclass.storage.k8s.io/";

/** Evaluator of PersistentVolumeClaims: counts claims and requests.storage, in total and by StorageClass. */
export const volumeClaimEvaluator: Evaluator = {
  handles(request) {
    const { operation, subresource, object, previous } = request;
    if (operation !== "UPDATE" || subresource !== "status") return isWrite(request);
    return changesUsage(object, previous);
  },
  tracks(name) {
    return name === COUNT || [CLAIMS, STORAGE].some((one) => name === one || name.endsWith(OF_CLASS + one));
  },
  usage(claim) {
    const usage = new Map([
      [COUNT, countOf(1)],
      [CLAIMS, countOf(1)],
    ]);
    const className = storageClassOf(claim);
    if (className !== "") usage.set(className + OF_CLASS + CLAIMS, countOf(1));
    const storage = storageOf(claim);
    if (!storage) return usage;
    usage.set(STORAGE, storage);
    if (className !== "") usage.set(className + OF_CLASS + STORAGE, storage);
    return usage;
  },
  matchesScope(scope, claim) {
    return scope.scopeName === "VolumeAttributesClass" && matchesNames(scope, attributesClasses(claim));
  },
};

function part(object: KubeObject | undefined, member: "spec" | "status"): JsonObject {
  const value = object?.[member];
  return isObject(value) ? value : {};
}

/** `requests.storage` of a claim, or `status.allocatedResources` if that is more. */
function storageOf(claim: KubeObject): Quantity | undefined {
  const { resources } = part(claim, "spec");
  const requests = isObject(resources) ? resources.requests : undefined;
  const asked = amountIn(requests);
  const allocated = amountIn(part(claim, "status").allocatedResources);
  return asked && allocated && compareQuantities(allocated, asked) > 0 ? allocated : asked;
}

/** Compat: `requests.storage` is counted in whole bytes, rounded up. */
function amountIn(list: unknown): Quantity | undefined {
  if (!isObject(list) || list.storage === undefined) return undefined;
  const amount = parseQuantity(String(list.storage));
  return amount.exponent >= 0 ? amount : { mantissa: roundUp(amount), exponent: 0, format: amount.format };
}

function changesUsage(next: KubeObject | undefined, previous: KubeObject | undefined): boolean {
  if (!next || !previous) return false;
  const allocated = (claim: KubeObject) => amountIn(part(claim, "status").allocatedResources);
  if (!isDeepStrictEqual(allocated(next), allocated(previous))) return true;
  return !isDeepStrictEqual(attributesClasses(next).sort(), attributesClasses(previous).sort());
}

/** The current, desired and target VolumeAttributesClasses of a claim. */
function attributesClasses(claim: KubeObject): string[] {
  const status = part(claim, "status");
  const { modifyVolumeStatus } = status;
  const names = [
    part(claim, "spec").volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    isObject(modifyVolumeStatus) ? modifyVolumeStatus.targetVolumeAttributesClassName : undefined,
  ];
  return [...new Set(names.filter((name): name is string => typeof name === "string" && name !== ""))];
}
