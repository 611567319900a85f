import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { messageOf, unlessCode } from "../../shared/controller.ts";
import { MIGRATED_TO } from "../../shared/csi-migration.ts";
import { type Index, type Informer, keyOf } from "../../shared/informer.ts";
import { isTerminated } from "../../shared/pods.ts";
import { claimRefKey, PROVISIONED_BY } from "../../shared/volume-facts.ts";
import { isInTree, pluginByName, pluginBySource, type VolumePlugin } from "./plugins.ts";
import { IN_TREE_FINALIZER } from "./provision.ts";
import type { Writer } from "./writer.ts";

/** What `Reclaiming` works with. */
export interface ReclaimingOptions {
  readonly client: ObjectClient;
  readonly writer: Writer;
  readonly volumes: Informer<PersistentVolume>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly podsByClaim: Index<Pod>;
}

/** Applies the reclaim policy to volumes whose claims are gone. */
export class Reclaiming {
  readonly #options: ReclaimingOptions;

  constructor(options: ReclaimingOptions) {
    this.#options = options;
  }

  /** Returns whether it must be tried again later. */
  async reclaim(volume: PersistentVolume): Promise<boolean> {
    // The CSI driver takes care of the volume.
    if ((volume.metadata.annotations?.[MIGRATED_TO] ?? "") !== "") return false;
    switch (volume.spec.persistentVolumeReclaimPolicy) {
      case "Delete":
        await this.#delete(volume);
        return false;
      case "Recycle":
        return this.#recycle(volume);
      case "Retain":
        return false;
      default: {
        const message = "Volume has unrecognized PersistentVolumeReclaimPolicy";
        await this.#options.writer.fail(volume, "VolumeUnknownReclaimPolicy", message);
        return false;
      }
    }
  }

  async #delete(volume: PersistentVolume): Promise<void> {
    const { client, volumes, writer } = this.#options;
    try {
      const plugin = deleterOf(volume);
      if (plugin === undefined) return;
      plugin.remove?.(volume);
    } catch (error) {
      return writer.fail(volume, "VolumeFailedDelete", messageOf(error));
    }
    const { finalizers = [] } = volume.metadata;
    if (finalizers.includes(IN_TREE_FINALIZER)) {
      const kept = finalizers.filter((one) => one !== IN_TREE_FINALIZER);
      await writer.updateVolume({ ...volume, metadata: { ...volume.metadata, finalizers: kept } });
    }
    if (volume.metadata.deletionTimestamp !== undefined) return;
    const { name = "", uid = "" } = volume.metadata;
    const key = { namespace: "", name };
    await client.delete(volumes.resource, key, { preconditions: { uid } }).catch(unlessCode(404));
  }

  /** Differs: upstream runs a Pod that deletes all files of the volume. Here there are none. */
  async #recycle(volume: PersistentVolume): Promise<boolean> {
    const { writer } = this.#options;
    const users = this.#usersOf(volume);
    if (users.length > 0) {
      writer.note(volume, "VolumeFailedRecycle", `Volume is used by pods: ${users.join(",")}`);
      return true;
    }
    if (!isRecyclable(volume)) {
      await writer.fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!");
      return false;
    }
    writer.note(volume, "VolumeRecycled", "Volume recycled");
    await writer.unbind(volume);
    return false;
  }

  /** The Pods that still run with the deleted claim, and not with a new one of the same name. */
  #usersOf({ spec: { claimRef } }: PersistentVolume): string[] {
    const { claims, podsByClaim } = this.#options;
    const key = claimRefKey(claimRef ?? {});
    if (claims.get(key)) return [];
    return [...podsByClaim.get(key)]
      .filter((pod) => !isTerminated(pod))
      .map(keyOf)
      .sort();
  }
}

function isRecyclable(volume: PersistentVolume): boolean {
  try {
    return pluginBySource(volume).isRecyclable === true;
  } catch {
    return false;
  }
}

/** The plugin that deletes a volume. Undefined if an external program does. Throws if nothing can. */
function deleterOf(volume: PersistentVolume): VolumePlugin | undefined {
  const provisioner = volume.metadata.annotations?.[PROVISIONED_BY] ?? "";
  if (provisioner !== "") {
    try {
      return ableToDelete(pluginByName(provisioner));
    } catch (error) {
      if (isInTree(provisioner)) throw error;
      return undefined;
    }
  }
  if (volume.spec.csi !== undefined) return undefined;
  try {
    return ableToDelete(pluginBySource(volume));
  } catch (error) {
    const name = JSON.stringify(volume.metadata.name);
    throw new Error(`error getting deleter volume plugin for volume ${name}: ${messageOf(error)}`);
  }
}

function ableToDelete(plugin: VolumePlugin): VolumePlugin {
  if (plugin.remove === undefined) throw new Error("no deletable volume plugin matched");
  return plugin;
}
