import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import { capacityOf, groupOf, isSelected, requestOf } from "../../shared/volume-facts.ts";
import { BySize } from "./by-size.ts";

/** Volumes with the same access modes. */
interface ModeSet {
  readonly modes: ReadonlySet<string>;
  readonly volumes: BySize<PersistentVolume>;
}

/**
 * The volumes that a claim can get: by storage class, volume mode and VolumeAttributesClass, then by access modes and
 * size. So a claim only looks at volumes that are large enough.
 */
export class AvailableVolumes {
  readonly #groups = new Map<string, Map<string, ModeSet>>();

  change(before: PersistentVolume | undefined, after: PersistentVolume | undefined): void {
    if (before && isFree(before)) this.#like(before).remove(before);
    if (after && isFree(after)) this.#like(after).add(after);
  }

  clear(): void {
    this.#groups.clear();
  }

  /** The smallest volume for a claim, of those with the fewest access modes. */
  smallest(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    const wanted = claim.spec.accessModes ?? [];
    const sets = [...(this.#groups.get(groupOf(claim))?.values() ?? [])]
      .filter(({ modes }) => wanted.every((mode) => modes.has(mode)))
      .sort((one, other) => one.modes.size - other.modes.size);
    for (const { volumes } of sets) {
      for (const volume of volumes.atLeast(requestOf(claim))) if (isSelected(volume, claim)) return volume;
    }
    return undefined;
  }

  /** The volumes with the same group and access modes. */
  #like(volume: PersistentVolume): BySize<PersistentVolume> {
    const key = groupOf(volume);
    const group = this.#groups.get(key) ?? new Map<string, ModeSet>();
    this.#groups.set(key, group);
    const modes = new Set(volume.spec.accessModes);
    const text = [...modes].sort().join();
    const set = group.get(text) ?? { modes, volumes: new BySize(capacityOf) };
    group.set(text, set);
    return set.volumes;
  }
}

function isFree({ metadata, spec, status }: PersistentVolume): boolean {
  return status?.phase === "Available" && spec.claimRef === undefined && metadata.deletionTimestamp === undefined;
}
