import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Volume } from "../../../kinds/types/volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { driverOf, migratedPlugin } from "../../controllers/shared/csi-migration.ts";
import type { Informers } from "../../controllers/shared/informers.ts";
import { claimNameOf, isForPod } from "../../controllers/shared/pod-claims.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import { claimNotFound, notForPod } from "./volume-messages.ts";

/** CSINode of storage.k8s.io/v1. */
export interface CsiNode extends KubeObject {
  readonly spec: { drivers?: { name: string; allocatable?: { count?: number } }[] };
}

/** Former in-tree plugins whose volumes count, and the field that names the disk. */
const DISK_FIELDS: Readonly<Record<string, readonly [source: string, field: string]>> = {
  "kubernetes.io/aws-ebs": ["awsElasticBlockStore", "volumeID"],
  "kubernetes.io/azure-disk": ["azureDisk", "diskURI"],
  "kubernetes.io/cinder": ["cinder", "volumeID"],
  "kubernetes.io/gce-pd": ["gcePersistentDisk", "pdName"],
  "kubernetes.io/portworx-volume": ["portworxVolume", "volumeID"],
};

/** CSI drivers by the volumes that they attach. */
export type AttachableVolumes = Map<string, string>;

/** Whether a volume may be attached by a CSI driver. */
export function mayBeAttached(volume: Volume): boolean {
  return Boolean(volume.persistentVolumeClaim ?? volume.ephemeral) || migratedPlugin(volume) !== undefined;
}

/** Finds the volumes of Pods that CSI drivers attach. */
export class CsiVolumes {
  readonly #informers: Informers;

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  /**
   * The volumes of a Pod. `isMigrated`: the node has a CSINode, so that CSI drivers attach volumes of in-tree plugins.
   * `onMissing`: called for claims that do not exist.
   */
  of(pod: Pod, isMigrated: boolean, onMissing: (message: string) => void = () => undefined): AttachableVolumes {
    const found: AttachableVolumes = new Map();
    const add = ([driver, handle]: readonly [string, string]) => found.set(`${driver}/${handle}`, driver);
    for (const volume of pod.spec?.volumes ?? []) {
      const claim = this.#claimOf(pod, volume, onMissing);
      const attached = claim ? this.#ofClaim(claim, isMigrated) : inTree(volume, isMigrated);
      if (attached) add(attached);
    }
    return found;
  }

  #claimOf(pod: Pod, volume: Volume, onMissing: (message: string) => void): PersistentVolumeClaim | undefined {
    const name = claimNameOf(pod, volume);
    if (name === undefined) return undefined;
    const { namespace } = pod.metadata;
    const { informer } = this.#informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
    const claim = informer.get(`${namespace}/${name}`);
    if (claim === undefined) onMissing(`looking up PVC ${namespace}/${name}: ${claimNotFound(name)}`);
    else if (volume.ephemeral && !isForPod(pod, claim)) throw new Error(notForPod(pod, claim));
    return claim;
  }

  #ofClaim(claim: PersistentVolumeClaim, isMigrated: boolean): readonly [string, string] | undefined {
    const { informer } = this.#informers.of<PersistentVolume>("", "persistentvolumes");
    const volume = informer.get(claim.spec.volumeName ?? "");
    if (volume === undefined) return this.#ofClass(claim, isMigrated);
    const { csi } = volume.spec;
    return csi ? [String(csi.driver), String(csi.volumeHandle)] : inTree(volume.spec, isMigrated);
  }

  /** A volume that will be provisioned counts as one of its own. */
  #ofClass(claim: PersistentVolumeClaim, isMigrated: boolean): readonly [string, string] | undefined {
    const { informer } = this.#informers.of<StorageClass>("storage.k8s.io", "storageclasses");
    const provisioner = informer.get(storageClassOf(claim))?.provisioner;
    if (provisioner === undefined) return undefined;
    const handle = `pending ${claim.metadata.namespace}/${claim.metadata.name}`;
    const migrated = driverOf(provisioner);
    if (migrated === undefined) return [provisioner, handle];
    return isMigrated && getMember(DISK_FIELDS, provisioner) ? [migrated, handle] : undefined;
  }
}

/** Differs: the handle is not the one that CSI drivers use, so that an in-tree volume never equals a CSI volume. */
function inTree(spec: JsonObject, isMigrated: boolean): readonly [string, string] | undefined {
  const plugin = migratedPlugin(spec);
  const fields = plugin === undefined ? undefined : getMember(DISK_FIELDS, plugin);
  if (!isMigrated || plugin === undefined || fields === undefined) return undefined;
  const [source, field] = fields;
  return [driverOf(plugin) ?? "", `in-tree ${(spec[source] as JsonObject)[field]}`];
}
