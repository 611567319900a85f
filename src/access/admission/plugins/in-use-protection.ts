import { targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

interface Protected {
  readonly group: string;
  readonly plural: string;
  readonly finalizer: string;
}

/** Adds a finalizer to new objects. A controller removes it when they are no longer in use. */
function protection(name: string, kinds: readonly Protected[]): AdmissionPlugin {
  const find = (request: AdmissionRequest) => kinds.find(({ group, plural }) => targets(request, group, plural));
  return {
    name,
    handles: (request) => request.operation === "CREATE" && find(request) !== undefined,
    async mutate(request) {
      const { object } = request;
      const finalizer = find(request)?.finalizer;
      if (!object || finalizer === undefined) return;
      const { finalizers = [] } = object.metadata;
      if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
    },
  };
}

/** StorageObjectInUseProtection: finalizers pv-protection, pvc-protection and vac-protection. */
export const storageObjectInUseProtection: AdmissionPlugin = protection("StorageObjectInUseProtection", [
  { group: "", plural: "persistentvolumeclaims", finalizer: "kubernetes.io/pvc-protection" },
  { group: "", plural: "persistentvolumes", finalizer: "kubernetes.io/pv-protection" },
  { group: "storage.k8s.io", plural: "volumeattributesclasses", finalizer: "kubernetes.io/vac-protection" },
]);

/** PodGroupProtection: a finalizer for PodGroups. */
export const podGroupProtection: AdmissionPlugin = protection("PodGroupProtection", [
  { group: "scheduling.k8s.io", plural: "podgroups", finalizer: "scheduling.k8s.io/podgroup-protection" },
]);
