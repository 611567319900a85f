import type { JsonObject, KubeObject } from "../../../base/api/object.ts";

/** StorageClass of storage.k8s.io/v1. */
export interface StorageClass extends KubeObject {
  provisioner: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  mountOptions?: string[];
  allowedTopologies?: TopologySelectorTerm[];
}

/** TopologySelectorTerm of core/v1. */
export interface TopologySelectorTerm extends JsonObject {
  matchLabelExpressions?: { key: string; values: string[] }[];
}

const DEFAULT = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** Whether an administrator marked the class as default. */
export function isDefaultClass({ metadata }: StorageClass): boolean {
  return DEFAULT.some((name) => metadata.annotations?.[name] === "true");
}

/** The default class: the newest, then the first by name. */
export function defaultClass(classes: Iterable<StorageClass>): StorageClass | undefined {
  const timeOf = ({ metadata }: StorageClass) => metadata.creationTimestamp ?? "";
  const nameOf = ({ metadata }: StorageClass) => metadata.name ?? "";
  let best: StorageClass | undefined;
  for (const one of classes) {
    if (!isDefaultClass(one)) continue;
    const isBetter =
      best === undefined || timeOf(one) > timeOf(best) || (timeOf(one) === timeOf(best) && nameOf(one) < nameOf(best));
    if (isBetter) best = one;
  }
  return best;
}
