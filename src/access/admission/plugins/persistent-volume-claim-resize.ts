import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../base/api/quantity.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { storageClassOf } from "./storage-class-name.ts";

/** PersistentVolumeClaimResize: only a bound claim can grow, and only if its StorageClass has allowVolumeExpansion. */
export function persistentVolumeClaimResize(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "PersistentVolumeClaimResize",
    handles: (request) => request.operation === "UPDATE" && targets(request, "", "persistentvolumeclaims"),
    async validate(request) {
      const { object, previous } = request;
      if (!object || !previous) return;
      if (compareQuantities(sizeOf(object), sizeOf(previous)) <= 0) return;
      if (!isObject(previous.status) || previous.status.phase !== "Bound") {
        throw refusal(request, "Only bound persistent volume claims can be expanded");
      }
      if (await canGrow(access, storageClassOf(object), storageClassOf(previous))) return;
      throw refusal(
        request,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
    },
  };
}

async function canGrow(access: ObjectAccess, name: string, previousName: string): Promise<boolean> {
  if (name === "" || name !== previousName) return false;
  const found = await access.find("storage.k8s.io", "storageclasses", { namespace: "", name });
  return found?.allowVolumeExpansion === true;
}

function sizeOf({ spec }: KubeObject): Quantity {
  const resources = isObject(spec) && isObject(spec.resources) ? spec.resources : {};
  const storage = isObject(resources.requests) ? resources.requests.storage : undefined;
  return parseQuantity(storage === undefined ? "0" : String(storage));
}
