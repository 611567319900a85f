import type { KubeObject } from "../../../src/base/api/object.ts";
import type { WorkloadKind } from "./steps.ts";
import { ATTRIBUTES_NAMES, claimsOf, freeName, volumesOf } from "./volume-parts.ts";
import { deleteAction, holdAction, isKept } from "./workload-actions.ts";

const COLLECTION = {
  kind: "VolumeAttributesClass",
  root: "/apis/storage.k8s.io/v1",
  plural: "volumeattributesclasses",
  isClusterScoped: true,
} as const;

/** VolumeAttributesClasses. */
export const ATTRIBUTES_CLASSES: WorkloadKind<KubeObject> = {
  collection: COLLECTION,
  isSmall: true,
  controllers: ["volumeattributesclass-protection-controller"],
  components: [],
  create: ({ view, namespace }, fallback) => {
    const names = ATTRIBUTES_NAMES.map((name) => `${namespace}.${name}`);
    const name = freeName(view.of(COLLECTION.kind), names, fallback);
    return { metadata: { name }, driverName: "example.com", parameters: { iops: "1" } };
  },
  actions: [deleteAction(COLLECTION), holdAction(COLLECTION)],
  isSettled: (object, view) => {
    const { deletionTimestamp, name } = object.metadata;
    const users = [...claimsOf(view), ...volumesOf(view)];
    const isUsed = users.some(({ spec }) => spec.volumeAttributesClassName === name);
    return deletionTimestamp === undefined || isKept(object) || isUsed;
  },
};
