import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import { compareQuantities } from "../../../base/api/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { keyOf } from "../../controllers/shared/informer.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import { requestOf, SELECTED_NODE } from "../../controllers/shared/volume-facts.ts";
import type { NodeInfo } from "../node-info.ts";
import { isUsableOn, type MatchingVolumes, matchingVolumes, volumeFor } from "./matching-volumes.ts";
import type { PodVolumeClaims } from "./pod-volume-claims.ts";
import { type CsiStorageCapacity, type FindCapacity, isAllowedTopology } from "./storage-capacity.ts";

const OTHER_NODES = "node(s) didn't match PersistentVolume's node affinity";
const NO_VOLUME = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = "node(s) did not have enough free storage";
const VOLUME_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

/** A claim and the volume that it gets. */
export interface VolumeBinding {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
}

/** A claim for which a volume is provisioned. */
export interface Provision {
  readonly claim: PersistentVolumeClaim;
  /** What its driver publishes. */
  readonly capacity: CsiStorageCapacity | undefined;
}

/** What the claims of a Pod get on a node. */
export interface NodeVolumes {
  readonly bindings: readonly VolumeBinding[];
  readonly provisions: readonly Provision[];
}

/** Where volumes come from. */
export interface VolumeSource {
  readonly volume: (name: string) => PersistentVolume | undefined;
  readonly volumesOfClass: (name: string) => Iterable<PersistentVolume>;
  readonly storageClass: (name: string) => StorageClass | undefined;
  readonly findCapacity: FindCapacity;
}

/** Finds volumes for the claims of one Pod, node by node. Upstream: FindPodVolumes */
export class NodeVolumeFinder {
  readonly #source: VolumeSource;
  readonly #bound: readonly (PersistentVolume | undefined)[];
  /** By size. Those with a selected node get no volume that exists. */
  readonly #searching: readonly MatchingVolumes[];
  readonly #selected: readonly PersistentVolumeClaim[];

  constructor({ bound, delayed }: PodVolumeClaims, source: VolumeSource) {
    this.#source = source;
    this.#bound = bound.map(({ spec }) => source.volume(spec.volumeName ?? ""));
    this.#selected = delayed.filter((claim) => selectedNode(claim) !== undefined);
    this.#searching = delayed
      .filter((claim) => selectedNode(claim) === undefined)
      .sort((one, other) => compareQuantities(requestOf(one), requestOf(other)))
      .map((claim) => matchingVolumes(claim, source.volumesOfClass(storageClassOf(claim))));
  }

  /** The volumes, or the reasons why there are none. */
  find(node: NodeInfo): NodeVolumes | readonly string[] {
    const reasons: string[] = [];
    const unusable = this.#bound.find((volume) => volume === undefined || !isUsableOn(volume, node));
    const isGone = this.#bound.includes(undefined) && unusable === undefined;
    if (unusable) reasons.push(OTHER_NODES);
    const found = this.#findUnbound(node);
    if (typeof found === "string") reasons.push(found);
    if (isGone) reasons.push(VOLUME_GONE);
    return typeof found === "string" || reasons.length > 0 ? reasons : found;
  }

  #findUnbound(node: NodeInfo): NodeVolumes | string {
    if (this.#selected.some((claim) => selectedNode(claim) !== node.name)) return NO_VOLUME;
    const taken = new Set<PersistentVolume>();
    const bindings: VolumeBinding[] = [];
    const missing = [...this.#selected];
    for (const matching of this.#searching) {
      const { claim } = matching;
      const volume = volumeFor(matching, node, taken);
      if (volume === undefined) missing.push(claim);
      else {
        taken.add(volume);
        bindings.push({ claim, volume });
      }
    }
    const provisions = this.#provision(missing, node);
    return typeof provisions === "string" ? provisions : { bindings, provisions };
  }

  /** Upstream: checkVolumeProvisions */
  #provision(claims: readonly PersistentVolumeClaim[], node: NodeInfo): Provision[] | string {
    const provisions: Provision[] = [];
    for (const claim of claims) {
      const className = storageClassOf(claim);
      if (className === "") throw new Error(`no class for claim ${JSON.stringify(keyOf(claim))}`);
      const storageClass = this.#source.storageClass(className);
      if (storageClass === undefined) throw new Error(`failed to find storage class ${JSON.stringify(className)}`);
      const { provisioner, allowedTopologies = [] } = storageClass;
      if (provisioner === "" || provisioner === "kubernetes.io/no-provisioner") return NO_VOLUME;
      if (!isAllowedTopology(allowedTopologies, node)) return NO_VOLUME;
      const capacity = this.#source.findCapacity(claim, storageClass, node);
      if (capacity === false) return NO_SPACE;
      provisions.push({ claim, capacity: capacity === true ? undefined : capacity });
    }
    return provisions;
  }
}

const selectedNode = ({ metadata }: PersistentVolumeClaim) => metadata.annotations?.[SELECTED_NODE];
