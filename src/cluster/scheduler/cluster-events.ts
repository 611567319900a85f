import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../base/api/object.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { podInfoOf } from "./pod-info.ts";
import { amountOf, namesOf } from "./resource-totals.ts";

/** Kinds whose changes may make a Pod schedulable, besides Nodes and Pods. */
export const OTHER_RESOURCES = {
  PersistentVolume: { group: "", plural: "persistentvolumes" },
  PersistentVolumeClaim: { group: "", plural: "persistentvolumeclaims" },
  CSINode: { group: "storage.k8s.io", plural: "csinodes" },
  CSIDriver: { group: "storage.k8s.io", plural: "csidrivers" },
  VolumeAttachment: { group: "storage.k8s.io", plural: "volumeattachments" },
  CSIStorageCapacity: { group: "storage.k8s.io", plural: "csistoragecapacities" },
  StorageClass: { group: "storage.k8s.io", plural: "storageclasses" },
  ResourceClaim: { group: "resource.k8s.io", plural: "resourceclaims" },
  ResourceSlice: { group: "resource.k8s.io", plural: "resourceslices" },
  DeviceClass: { group: "resource.k8s.io", plural: "deviceclasses" },
} as const;

/** A kind in `OTHER_RESOURCES`. */
export type OtherResource = keyof typeof OTHER_RESOURCES;

/** What has changed. `AssignedPod` has a node. `TargetPod` is the Pod that waits to be scheduled. */
export type EventResource = "Node" | "AssignedPod" | "TargetPod" | OtherResource;

type NodeAction = `UpdateNode${"Allocatable" | "Label" | "Taint" | "Condition" | "Annotation" | "DeclaredFeature"}`;
type PodAction =
  `UpdatePod${"Label" | "ScaleDown" | "ScaleUp" | "Toleration" | "SchedulingGatesEliminated" | "GeneratedResourceClaim"}`;

/** How it has changed. `Update` is any change without a more exact name. */
export type EventAction = "Add" | "Delete" | "Update" | NodeAction | PodAction;

/** A change in the cluster. */
export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: EventAction;
}

/** Changes that may make a Pod schedulable. */
export interface EventOfInterest {
  readonly resource: EventResource;
  /** `Update` stands for every update. */
  readonly actions: readonly EventAction[];
  /**
   * Whether the change makes the rejected Pod schedulable. Absent: it may. `before` is undefined for a new object, `after`
   * for a deleted one. Upstream: QueueingHintFn
   */
  hint?(pod: Pod, before: KubeObject | undefined, after: KubeObject | undefined): boolean;
}

/** Whether a plugin is interested in a change. Upstream: MatchClusterEvents */
export function isOfInterest({ resource, actions }: EventOfInterest, event: ClusterEvent): boolean {
  if (resource !== event.resource) return false;
  return actions.includes(event.action) || (event.action.startsWith("Update") && actions.includes("Update"));
}

const NODE_CHANGES: readonly (readonly [NodeAction, (before: Node, after: Node) => boolean])[] = [
  ["UpdateNodeTaint", (before, after) => before.spec?.unschedulable === true && after.spec?.unschedulable !== true],
  ["UpdateNodeAllocatable", (before, after) => differ(before.status?.allocatable, after.status?.allocatable)],
  ["UpdateNodeLabel", (before, after) => differ(before.metadata.labels, after.metadata.labels)],
  ["UpdateNodeTaint", (before, after) => differ(before.spec?.taints, after.spec?.taints)],
  ["UpdateNodeCondition", (before, after) => differ(conditions(before), conditions(after))],
  ["UpdateNodeAnnotation", (before, after) => differ(before.metadata.annotations, after.metadata.annotations)],
  [
    "UpdateNodeDeclaredFeature",
    (before, after) => differ(before.status?.declaredFeatures, after.status?.declaredFeatures),
  ],
];

/** The events of an update of a node. Upstream: NodeSchedulingPropertiesChange */
export function nodeEvents(before: Node, after: Node): ClusterEvent[] {
  return NODE_CHANGES.filter(([, hasChanged]) => hasChanged(before, after)).map(([action]) => ({
    resource: "Node",
    action,
  }));
}

const POD_CHANGES: readonly (readonly [PodAction, (before: Pod, after: Pod) => boolean])[] = [
  ["UpdatePodLabel", (before, after) => differ(before.metadata.labels, after.metadata.labels)],
  ["UpdatePodScaleDown", (before, after) => requestsLess(after, before)],
  ["UpdatePodScaleUp", (before, after) => requestsLess(before, after)],
  [
    "UpdatePodSchedulingGatesEliminated",
    ({ spec: before }, { spec: after }) =>
      (before?.schedulingGates ?? []).length > 0 && (after?.schedulingGates ?? []).length === 0,
  ],
  [
    "UpdatePodToleration",
    ({ spec: before }, { spec: after }) => before?.tolerations?.length !== after?.tolerations?.length,
  ],
  [
    "UpdatePodGeneratedResourceClaim",
    ({ status: before }, { status: after }) =>
      differ(before?.resourceClaimStatuses, after?.resourceClaimStatuses) ||
      differ(before?.extendedResourceClaimStatus, after?.extendedResourceClaimStatus),
  ],
];

/** The events of an update of a Pod. Upstream: PodSchedulingPropertiesChange */
export function podEvents(resource: "AssignedPod" | "TargetPod", before: Pod, after: Pod): ClusterEvent[] {
  const found = POD_CHANGES.filter(([, hasChanged]) => hasChanged(before, after));
  if (found.length === 0) return [{ resource, action: "Update" }];
  return found.map(([action]) => ({ resource, action }));
}

/** Whether a Pod requests less of some resource than another. */
function requestsLess(pod: Pod, other: Pod): boolean {
  if (pod.spec === other.spec && pod.status === other.status) return false;
  const [less, more] = [podInfoOf(pod).requests, podInfoOf(other).requests];
  return namesOf(more).some((name) => amountOf(less, name) < amountOf(more, name));
}

function differ(before: unknown, after: unknown): boolean {
  return before !== after && !isDeepStrictEqual(before, after);
}

function conditions({ status }: Node): Readonly<Record<string, string>> {
  return Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition.status]));
}
