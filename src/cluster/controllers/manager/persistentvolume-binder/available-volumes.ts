import { type LabelSelector, matchesLabels } from "../../../../base/api/label-selector.ts";
import { compareQuantities, type Quantity } from "../../../../base/api/quantity.ts";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import { keyOf } from "../../shared/informer.ts";
import { capacityOf, groupOf, requestOf } from "./facts.ts";

/** Volumes of the same size. */
interface Size {
  readonly capacity: Quantity;
  readonly volumes: Map<string, PersistentVolume>;
}

/** Volumes with the same access modes, by size. */
interface ModeSet {
  readonly modes: ReadonlySet<string>;
  readonly sizes: Size[];
}

/**
 * The volumes that a claim can get: by storage class, volume mode and VolumeAttributesClass, then by access modes and
 * size. So a claim only looks at volumes that are large enough.
 */
export class AvailableVolumes {
  readonly #groups = new Map<string, Map<string, ModeSet>>();

  change(before: PersistentVolume | undefined, after: PersistentVolume | undefined): void {
    if (before && isFree(before)) this.#remove(before);
    if (after && isFree(after)) this.#add(after);
  }

  clear(): void {
    this.#groups.clear();
  }

  /** The smallest volume for a claim, of those with the fewest access modes. */
  smallest(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    const selector = selectorOf(claim);
    const wanted = claim.spec.accessModes ?? [];
    const sets = [...(this.#groups.get(groupOf(claim))?.values() ?? [])]
      .filter(({ modes }) => wanted.every((mode) => modes.has(mode)))
      .sort((one, other) => one.modes.size - other.modes.size);
    for (const { sizes } of sets) {
      for (let at = firstAtLeast(sizes, requestOf(claim)); at < sizes.length; at += 1) {
        for (const volume of sizes[at]?.volumes.values() ?? []) if (isSelected(volume, selector)) return volume;
      }
    }
    return undefined;
  }

  #add(volume: PersistentVolume): void {
    const sizes = this.#sizesOf(volume);
    const capacity = capacityOf(volume);
    const at = firstAtLeast(sizes, capacity);
    const known = sizes[at];
    if (known && compareQuantities(known.capacity, capacity) === 0) known.volumes.set(keyOf(volume), volume);
    else sizes.splice(at, 0, { capacity, volumes: new Map([[keyOf(volume), volume]]) });
  }

  #remove(volume: PersistentVolume): void {
    const sizes = this.#sizesOf(volume);
    const at = firstAtLeast(sizes, capacityOf(volume));
    sizes[at]?.volumes.delete(keyOf(volume));
    if (sizes[at]?.volumes.size === 0) sizes.splice(at, 1);
  }

  #sizesOf(volume: PersistentVolume): Size[] {
    const group = this.#groups.get(groupOf(volume)) ?? new Map<string, ModeSet>();
    this.#groups.set(groupOf(volume), group);
    const modes = new Set(volume.spec.accessModes);
    const text = [...modes].sort().join();
    const set = group.get(text) ?? { modes, sizes: [] };
    group.set(text, set);
    return set.sizes;
  }
}

function isFree({ metadata, spec, status }: PersistentVolume): boolean {
  return status?.phase === "Available" && spec.claimRef === undefined && metadata.deletionTimestamp === undefined;
}

/** The position of the first size that is at least as large. */
function firstAtLeast(sizes: readonly Size[], capacity: Quantity): number {
  let [low, high] = [0, sizes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const size = sizes[middle];
    if (size && compareQuantities(size.capacity, capacity) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function selectorOf({ spec }: PersistentVolumeClaim): LabelSelector | undefined {
  return spec.selector === undefined ? [] : readSelectorObject(spec.selector);
}

const isSelected = ({ metadata }: PersistentVolume, selector: LabelSelector | undefined): boolean =>
  selector !== undefined && matchesLabels(selector, metadata.labels);

/** Whether an available volume of the same group suffices for a claim. */
export function suffices(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes = new Set(volume.spec.accessModes);
  return (
    compareQuantities(capacityOf(volume), requestOf(claim)) >= 0 &&
    (claim.spec.accessModes ?? []).every((mode) => modes.has(mode)) &&
    isSelected(volume, selectorOf(claim))
  );
}
