import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../base/api/object.ts";
import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { claimNameOf } from "../../controllers/shared/pod-claims.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import type { EventOfInterest } from "../cluster-events.ts";
import { type CsiStorageCapacity, volumeLimit } from "./storage-capacity.ts";

const MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins";

/** Changes that may make a Pod schedulable that VolumeBinding has rejected. */
export const BINDING_EVENTS: readonly EventOfInterest[] = [
  {
    resource: "StorageClass",
    actions: ["Add", "Update"],
    hint: (_, before, after) =>
      before === undefined ||
      !isDeepStrictEqual(
        (before as StorageClass).allowedTopologies ?? [],
        (after as StorageClass).allowedTopologies ?? [],
      ),
  },
  {
    resource: "PersistentVolumeClaim",
    actions: ["Add", "Update"],
    hint(pod, _, after) {
      const { namespace, name } = (after as PersistentVolumeClaim).metadata;
      if (namespace !== pod.metadata.namespace) return false;
      return (pod.spec?.volumes ?? []).some((volume) => claimNameOf(pod, volume) === name);
    },
  },
  { resource: "PersistentVolume", actions: ["Add", "Update"] },
  { resource: "Node", actions: ["Add", "UpdateNodeLabel"] },
  {
    resource: "CSINode",
    actions: ["Add", "Update"],
    hint: (_, before, after) =>
      before === undefined ||
      before.metadata.annotations?.[MIGRATED_PLUGINS] !== after?.metadata.annotations?.[MIGRATED_PLUGINS],
  },
  {
    resource: "CSIDriver",
    actions: ["Update"],
    hint(pod, before, after) {
      const uses = (pod.spec?.volumes ?? []).some(({ csi }) => csi?.driver === after?.metadata.name);
      return uses && publishesCapacity(before) && !publishesCapacity(after);
    },
  },
  {
    resource: "CSIStorageCapacity",
    actions: ["Add", "Update"],
    hint(_, before, after) {
      if (before === undefined) return true;
      const limit = volumeLimit(after as CsiStorageCapacity);
      return limit !== undefined && limit > (volumeLimit(before as CsiStorageCapacity) ?? -1n);
    },
  },
];

const publishesCapacity = (driver: KubeObject | undefined) =>
  (driver?.spec as { readonly storageCapacity?: boolean } | undefined)?.storageCapacity === true;
