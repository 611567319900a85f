import { isObject, type KubeObject } from "../../../base/api/object.ts";

/** The deprecated annotation for the StorageClass of a claim. It takes precedence over storageClassName. */
export const BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class";

/** The StorageClass of a claim. Empty if it names none. */
export function storageClassOf({ metadata, spec }: KubeObject): string {
  const annotation = metadata.annotations?.[BETA_STORAGE_CLASS];
  if (annotation !== undefined) return annotation;
  return isObject(spec) && typeof spec.storageClassName === "string" ? spec.storageClassName : "";
}
