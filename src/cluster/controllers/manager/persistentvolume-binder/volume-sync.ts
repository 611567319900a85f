import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { driverOf, migratedAnnotations } from "../../shared/csi-migration.ts";
import { readFresh } from "../../shared/fresh.ts";
import type { Informer } from "../../shared/informer.ts";
import { claimRefKey, modeOf, PROVISIONED_BY } from "../../shared/volume-facts.ts";
import { isInTree } from "./plugins.ts";
import { IN_TREE_FINALIZER } from "./provision.ts";
import type { Reclaiming } from "./reclaim.ts";
import type { Writer } from "./writer.ts";

const EXTERNAL_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";

/** What `VolumeSync` works with. */
export interface VolumeSyncOptions {
  readonly resources: Resources;
  readonly writer: Writer;
  readonly reclaiming: Reclaiming;
  readonly claims: Informer<PersistentVolumeClaim>;
}

/** What follows from the sync of a volume. */
export type VolumeOutcome =
  /** A claim may get the volume. */
  | "available"
  /** The claim of the volume must be synced. */
  | "claim"
  /** The volume must be synced again later. */
  | "retry"
  | "done";

/** Sets the phase of volumes, and reclaims those without a claim. Upstream: syncVolume */
export class VolumeSync {
  readonly #options: VolumeSyncOptions;

  constructor(options: VolumeSyncOptions) {
    this.#options = options;
  }

  async sync(known: PersistentVolume): Promise<VolumeOutcome> {
    const { writer } = this.#options;
    const volume = await this.#migrate(known);
    const { claimRef } = volume.spec;
    if ((claimRef?.uid ?? "") === "") {
      await writer.setPhase(volume, "Available");
      return claimRef === undefined ? "available" : "claim";
    }
    const claim = await this.#claimOf(volume);
    if (claim === undefined) return this.#release(volume);
    const { volumeName = "" } = claim.spec;
    if (volumeName === "") return this.#isMismatch(volume, claim) ? "done" : "claim";
    if (volumeName === volume.metadata.name) {
      await writer.setPhase(volume, "Bound");
      return "done";
    }
    const isProvisioned = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
    // It was provisioned for a claim that got another volume.
    if (isProvisioned && volume.spec.persistentVolumeReclaimPolicy === "Delete") return this.#release(volume);
    await writer.unbind(volume);
    return "done";
  }

  /** The claim that the volume is bound to. The informer may lag behind whoever bound the volume. */
  async #claimOf({ spec: { claimRef = {} }, status }: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const { resources, claims } = this.#options;
    const known = claims.get(claimRefKey(claimRef));
    if (known?.metadata.uid === claimRef.uid) return known;
    if (known === undefined && isReleased(status?.phase)) return undefined;
    const { namespace = "", name = "", uid } = claimRef;
    const fresh = await readFresh(resources, claims.resource, { metadata: { namespace, name } });
    return fresh?.metadata.uid === uid ? (fresh as PersistentVolumeClaim) : undefined;
  }

  async #release(volume: PersistentVolume): Promise<VolumeOutcome> {
    const { writer, reclaiming } = this.#options;
    const released = isReleased(volume.status?.phase) ? volume : await writer.setPhase(volume, "Released");
    return (await reclaiming.reclaim(released)) ? "retry" : "done";
  }

  /** Records that the claim cannot be bound because of its volume mode. */
  #isMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
    if (modeOf(volume) === modeOf(claim)) return false;
    const { writer } = this.#options;
    const [volumeName, claimName] = [volume, claim].map(({ metadata }) => JSON.stringify(metadata.name));
    const reason = "VolumeMismatch";
    const end = "due to incompatible volumeMode.";
    writer.warn(volume, reason, `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${end}`);
    writer.warn(claim, reason, `Cannot bind PersistentVolume ${volumeName} to requested PersistentVolumeClaim ${end}`);
    return true;
  }

  async #migrate(volume: PersistentVolume): Promise<PersistentVolume> {
    const annotations = migratedAnnotations(volume.metadata, [PROVISIONED_BY]);
    const finalizers = deletionFinalizers(volume);
    if (annotations === undefined && finalizers === undefined) return volume;
    const changes = { ...(annotations && { annotations }), ...(finalizers && { finalizers }) };
    return this.#options.writer.updateVolume({ ...volume, metadata: { ...volume.metadata, ...changes } });
  }
}

const isReleased = (phase: string | undefined): boolean => phase === "Released" || phase === "Failed";

/** The finalizers that a volume of an in-tree plugin must have. Undefined if they do not change. */
function deletionFinalizers({ metadata, spec }: PersistentVolume): string[] | undefined {
  const provisioner = metadata.annotations?.[PROVISIONED_BY] ?? "";
  const { finalizers = [] } = metadata;
  if (!isInTree(provisioner)) return undefined;
  const isMigrated = driverOf(provisioner) !== undefined;
  const isProtected = !isMigrated && spec.persistentVolumeReclaimPolicy === "Delete";
  const others = finalizers.filter((one) => one !== IN_TREE_FINALIZER && (isMigrated || one !== EXTERNAL_FINALIZER));
  const isKept = isProtected && finalizers.includes(IN_TREE_FINALIZER);
  const next = isKept ? finalizers.filter((one) => one !== EXTERNAL_FINALIZER) : others;
  const all = isProtected && !isKept ? [...next, IN_TREE_FINALIZER] : next;
  return all.join() === finalizers.join() ? undefined : all;
}
