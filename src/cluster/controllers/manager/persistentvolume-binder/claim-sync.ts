import { BETA_STORAGE_CLASS, storageClassOf } from "../../../../access/admission/plugins/storage-class-name.ts";
import { compareQuantities } from "../../../../base/api/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { migratedAnnotations } from "../../shared/csi-migration.ts";
import { type Index, type Informer, keyOf } from "../../shared/informer.ts";
import { isTerminated } from "../../shared/pods.ts";
import { defaultClass, type StorageClass } from "../../shared/storage-class.ts";
import {
  attributesClassOf,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  capacityOf,
  claimRefKey,
  hasAccessModes,
  hasAnnotation,
  isBoundTo,
  modeOf,
  requestOf,
  SELECTED_NODE,
  STORAGE_PROVISIONERS,
} from "../../shared/volume-facts.ts";
import type { AvailableVolumes } from "./available-volumes.ts";
import type { Provisioning } from "./provision.ts";
import type { Writer } from "./writer.ts";

/** What `ClaimSync` works with. */
export interface ClaimSyncOptions {
  readonly writer: Writer;
  readonly provisioning: Provisioning;
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  readonly available: AvailableVolumes;
  /** Volumes by the claim that they refer to. */
  readonly volumesByClaim: Index<PersistentVolume>;
  readonly podsByClaim: Index<Pod>;
}

/** Binds claims to volumes. Upstream: syncClaim */
export class ClaimSync {
  readonly #options: ClaimSyncOptions;

  constructor(options: ClaimSyncOptions) {
    this.#options = options;
  }

  async sync(known: PersistentVolumeClaim): Promise<void> {
    const claim = await this.#migrate(known);
    if (hasAnnotation(claim, BIND_COMPLETED)) await this.#syncBound(claim);
    else if ((claim.spec.volumeName ?? "") === "") await this.#syncUnbound(claim);
    else await this.#syncPreBound(claim, claim.spec.volumeName ?? "");
  }

  /** Whether only the scheduler binds claims of this class, or starts their provisioning. */
  isDelayed(claim: PersistentVolumeClaim): boolean {
    const storageClass = this.#options.classes.get(storageClassOf(claim));
    return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  }

  async #migrate(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    const annotations = migratedAnnotations(claim.metadata, STORAGE_PROVISIONERS);
    if (annotations === undefined) return claim;
    return this.#options.writer.updateClaim({ ...claim, metadata: { ...claim.metadata, annotations } });
  }

  /** The user does not care which volume it is. */
  async #syncUnbound(claim: PersistentVolumeClaim): Promise<void> {
    const { writer, provisioning } = this.#options;
    const isDelayed = this.isDelayed(claim);
    const volume = this.#find(claim, isDelayed);
    if (volume) return writer.bind(volume, claim);
    if (await this.#assignDefaultClass(claim)) return;
    if (isDelayed && !hasAnnotation(claim, SELECTED_NODE)) this.#noteDelay(claim);
    else if (storageClassOf(claim) !== "") return provisioning.provision(claim);
    else {
      const message = "no persistent volumes available for this claim and no storage class is set";
      writer.note(claim, "FailedBinding", message);
    }
    await writer.setClaim(claim, "Pending");
  }

  /** The volume that is reserved for the claim, or the best available one. Those with fewer access modes come first. */
  #find(claim: PersistentVolumeClaim, isDelayed: boolean): PersistentVolume | undefined {
    const { available, volumesByClaim } = this.#options;
    const modesOf = ({ spec }: PersistentVolume) => new Set(spec.accessModes).size;
    const [reserved] = [...volumesByClaim.get(keyOf(claim))]
      .filter((volume) => isBoundTo(volume, claim) && fitsReserved(volume, claim))
      .sort((one, other) => modesOf(one) - modesOf(other));
    const smallest = isDelayed ? undefined : available.smallest(claim);
    if (reserved === undefined || smallest === undefined) return reserved ?? smallest;
    return modesOf(reserved) <= modesOf(smallest) ? reserved : smallest;
  }

  /** Upstream: assignDefaultStorageClass. An empty name explicitly selects no class. */
  async #assignDefaultClass(claim: PersistentVolumeClaim): Promise<boolean> {
    if (claim.spec.storageClassName !== undefined || hasAnnotation(claim, BETA_STORAGE_CLASS)) return false;
    const storageClassName = defaultClass(this.#options.classes.all())?.metadata.name;
    if (storageClassName === undefined) return false;
    await this.#options.writer.updateClaim({ ...claim, spec: { ...claim.spec, storageClassName } });
    return true;
  }

  #noteDelay(claim: PersistentVolumeClaim): void {
    const { writer, podsByClaim } = this.#options;
    const names = [...podsByClaim.get(keyOf(claim))]
      .filter((pod) => !isTerminated(pod) && (pod.spec?.nodeName ?? "") === "")
      .map(({ metadata }) => metadata.name);
    const what = names.length > 1 ? "pods" : "pod";
    if (names.length > 0)
      writer.note(claim, "WaitForPodScheduled", `waiting for ${what} ${names.join(",")} to be scheduled`);
    else writer.note(claim, "WaitForFirstConsumer", "waiting for first consumer to be created before binding");
  }

  /** The user wants this volume. */
  async #syncPreBound(claim: PersistentVolumeClaim, volumeName: string): Promise<void> {
    const { writer, volumes } = this.#options;
    const volume = volumes.get(volumeName);
    if (volume && volume.spec.claimRef === undefined) {
      const problem = mismatch(volume, claim);
      if (problem === undefined) return writer.bind(volume, claim);
      const message = `Cannot bind to requested volume ${JSON.stringify(volumeName)}: ${problem}`;
      writer.warn(claim, "VolumeMismatch", message);
    } else if (volume) {
      if (isBoundTo(volume, claim)) return writer.bind(volume, claim);
      writer.warn(claim, "FailedBinding", `volume ${JSON.stringify(volumeName)} already bound to a different claim.`);
      if (hasAnnotation(claim, BOUND_BY_CONTROLLER)) {
        const other = claimRefKey(volume.spec.claimRef ?? {});
        throw new Error(
          `invalid binding of claim "${keyOf(claim)}" to volume "${volumeName}": volume already claimed by "${other}"`,
        );
      }
    }
    await writer.setClaim(claim, "Pending");
  }

  async #syncBound(claim: PersistentVolumeClaim): Promise<void> {
    const { writer, volumes } = this.#options;
    const { volumeName = "" } = claim.spec;
    const volume = volumes.get(volumeName);
    const uid = volume?.spec.claimRef?.uid;
    if (volumeName === "") {
      const message = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
      await writer.lose(claim, "ClaimLost", message);
    } else if (volume === undefined) {
      const message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
      await writer.lose(claim, "ClaimLost", message);
    } else if (volume.spec.claimRef === undefined || uid === claim.metadata.uid) {
      await writer.bind(volume, claim);
    } else {
      const message = "Two claims are bound to the same volume, this one is bound incorrectly";
      await writer.lose(claim, "ClaimMisbound", message);
    }
  }
}

/** Whether a volume that is reserved for the claim can be bound. Its class and labels do not matter. */
function fitsReserved(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    compareQuantities(capacityOf(volume), requestOf(claim)) >= 0 &&
    modeOf(volume) === modeOf(claim) &&
    attributesClassOf(volume) === attributesClassOf(claim) &&
    hasAccessModes(volume, claim)
  );
}

/** Why a claim cannot get the volume that it names. */
function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const { name, deletionTimestamp } = volume.metadata;
  if (deletionTimestamp !== undefined) return `the volume is marked for deletion ${JSON.stringify(name)}`;
  if (compareQuantities(capacityOf(volume), requestOf(claim)) < 0) return "requested PV is too small";
  if (storageClassOf(volume) !== storageClassOf(claim)) return "storageClassName does not match";
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return "volumeAttributesClassName does not match";
  if (modeOf(volume) !== modeOf(claim)) return "incompatible volumeMode";
  if (!hasAccessModes(volume, claim)) return "incompatible accessMode";
  return undefined;
}
