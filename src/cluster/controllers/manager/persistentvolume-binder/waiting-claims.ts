import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import { capacityOf, groupOf, hasAccessModes, isSelected, isUnbound, requestOf } from "../../shared/volume-facts.ts";
import { BySize } from "./by-size.ts";

/**
 * The claims that wait for any volume: by storage class, volume mode and VolumeAttributesClass, then by size. So a new
 * volume only looks at claims for which it is large enough.
 */
export class WaitingClaims {
  readonly #groups = new Map<string, BySize<PersistentVolumeClaim>>();

  change(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void {
    if (before && isUnbound(before)) this.#like(before).remove(before);
    if (after && isUnbound(after)) this.#like(after).add(after);
  }

  clear(): void {
    this.#groups.clear();
  }

  /** A claim that an available volume satisfies. */
  first(volume: PersistentVolume): PersistentVolumeClaim | undefined {
    for (const claim of this.#groups.get(groupOf(volume))?.atMost(capacityOf(volume)) ?? []) {
      if (hasAccessModes(volume, claim) && isSelected(volume, claim)) return claim;
    }
    return undefined;
  }

  #like(claim: PersistentVolumeClaim): BySize<PersistentVolumeClaim> {
    const key = groupOf(claim);
    const group = this.#groups.get(key) ?? new BySize(requestOf);
    this.#groups.set(key, group);
    return group;
  }
}
