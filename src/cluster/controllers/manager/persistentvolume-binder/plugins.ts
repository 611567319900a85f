import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
} from "../../../../kinds/types/persistent-volume.ts";
import { SIMULATED, simulatedSpec } from "../../shared/simulated-storage.ts";
import type { StorageClass } from "../../shared/storage-class.ts";

/** A volume plugin of kube-controller-manager. None of them touches any storage. */
export interface VolumePlugin {
  readonly name: string;
  /** The member of a volume's spec that belongs to it. Undefined if it has none of its own. */
  readonly source?: "hostPath" | "nfs";
  readonly isRecyclable?: boolean;
  readonly supportsMountOptions?: boolean;
  /** The spec of a new volume. Throws if there can be none. Undefined if it does not provision volumes. */
  readonly provision?: (claim: PersistentVolumeClaim, storageClass: StorageClass) => PersistentVolumeSpec;
  /** Throws if the volume cannot be deleted. Undefined if it does not delete volumes. */
  readonly remove?: (volume: PersistentVolume) => void;
}

const HOST_PATH: VolumePlugin = {
  name: "kubernetes.io/host-path",
  source: "hostPath",
  isRecyclable: true,
  provision() {
    throw new Error(
      'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
    );
  },
  remove({ spec }) {
    const path = spec.hostPath?.path ?? "";
    if (/\/tmp\/./.test(path)) return;
    throw new Error(`host_path deleter only supports /tmp/.+ but received provided ${path}`);
  },
};

const PLUGINS: readonly VolumePlugin[] = [
  HOST_PATH,
  { name: "kubernetes.io/nfs", source: "nfs", isRecyclable: true },
  { name: SIMULATED, supportsMountOptions: true, provision: simulatedSpec, remove: () => undefined },
];

/** Whether a plugin of this name must be one of kube-controller-manager, not an external program. */
export const isInTree = (name: string): boolean => name.startsWith("kubernetes.io/");

/** Throws if there is no such plugin. */
export function pluginByName(name: string): VolumePlugin {
  const found = PLUGINS.find((plugin) => plugin.name === name);
  if (found === undefined) throw new Error(`no volume plugin matched name: ${name}`);
  return found;
}

/** The plugin of a volume's source. Throws if there is none. */
export function pluginBySource({ spec }: PersistentVolume): VolumePlugin {
  const found = PLUGINS.find(({ source }) => source !== undefined && spec[source] !== undefined);
  if (found === undefined) throw new Error("no volume plugin matched");
  return found;
}
