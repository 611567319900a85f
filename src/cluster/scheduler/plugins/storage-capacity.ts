import { matchesLabels } from "../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { parseQuantity } from "../../../base/api/quantity.ts";
import { roundUp } from "../../../base/api/resource-amounts.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { LabelSelector } from "../../../kinds/types/meta.ts";
import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Informers } from "../../controllers/shared/informers.ts";
import type { StorageClass, TopologySelectorTerm } from "../../controllers/shared/storage-class.ts";
import type { NodeInfo } from "../node-info.ts";

/** CSIStorageCapacity of storage.k8s.io/v1. */
export interface CsiStorageCapacity extends KubeObject {
  readonly storageClassName: string;
  readonly nodeTopology?: LabelSelector;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
}

interface CsiDriver extends KubeObject {
  readonly spec?: { readonly storageCapacity?: boolean };
}

/** Index by StorageClass. */
const classOf = ({ storageClassName }: CsiStorageCapacity) => [storageClassName];

/** Bytes of a quantity. Undefined if there is none. */
export const bytesOf = (text: string | undefined): bigint | undefined =>
  text === undefined ? undefined : roundUp(parseQuantity(text));

/** The size of the largest volume that can be provisioned. */
export const volumeLimit = ({ maximumVolumeSize, capacity }: CsiStorageCapacity): bigint | undefined =>
  bytesOf(maximumVolumeSize ?? capacity);

/** Says whether a driver has room for a volume: `true` if the driver does not publish its capacity. */
export type FindCapacity = (
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: NodeInfo,
) => CsiStorageCapacity | boolean;

/** Reads what drivers publish about their capacity. Upstream: hasEnoughCapacity */
export function capacityFinder(informers: Informers): FindCapacity {
  const { informer: drivers } = informers.of<CsiDriver>("storage.k8s.io", "csidrivers");
  const { informer: capacities } = informers.of<CsiStorageCapacity>("storage.k8s.io", "csistoragecapacities");
  const byClass = capacities.index(classOf);
  return (claim, { metadata, provisioner }, { labels }) => {
    const wanted = bytesOf(claim.spec.resources?.requests?.storage);
    if (wanted === undefined || drivers.get(provisioner)?.spec?.storageCapacity !== true) return true;
    for (const capacity of byClass.get(metadata.name ?? "")) {
      const selector = capacity.nodeTopology && readSelectorObject(capacity.nodeTopology);
      const hasAccess = selector !== undefined && matchesLabels(selector, labels);
      if (hasAccess && (volumeLimit(capacity) ?? -1n) >= wanted) return capacity;
    }
    return false;
  };
}

/** Whether a class allows volumes for a node. Upstream: MatchTopologySelectorTerms */
export function isAllowedTopology(terms: readonly TopologySelectorTerm[], { labels }: NodeInfo): boolean {
  if (terms.length === 0) return true;
  return terms.some(
    ({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.length > 0 &&
      matchLabelExpressions.every(
        ({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ""),
      ),
  );
}
