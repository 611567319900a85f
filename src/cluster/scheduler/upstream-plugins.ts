/** A plugin that kube-scheduler 1.37 enables by default, or by a feature gate. */
export interface UpstreamPlugin {
  readonly name: string;
  readonly does: string;
  /** Why it is not built in. Absent if it is, or will be. */
  readonly absence?: string;
}

const row = (name: string, does: string, absence?: string): UpstreamPlugin => ({
  name,
  does,
  ...(absence !== undefined && { absence }),
});

/** In the order in which kube-scheduler runs them. `default-plugins.ts` lists those that are built in. */
export const UPSTREAM_PLUGINS: readonly UpstreamPlugin[] = [
  row("SchedulingGates", "keeps Pods with scheduling gates out of the queue"),
  row("PrioritySort", "tries Pods with a higher priority first"),
  row("NodeName", "allows only the node that a Pod names"),
  row("NodeUnschedulable", "rejects cordoned nodes"),
  row("TaintToleration", "rejects nodes with taints that a Pod does not tolerate, and prefers those with few"),
  row("NodeAffinity", "follows node selectors and node affinity"),
  row("NodePorts", "rejects nodes where a host port is in use"),
  row("NodeResourcesFit", "rejects nodes with too few resources, and prefers nodes by what is left"),
  row("VolumeRestrictions", "rejects nodes where a volume is in use that only one Pod or node may use"),
  row("NodeVolumeLimits", "rejects nodes with as many volumes as they may have"),
  row("VolumeBinding", "finds or provisions volumes for claims that wait for their Pod"),
  row("VolumeZone", "rejects nodes in other zones than a volume"),
  row("PodTopologySpread", "spreads Pods across zones and nodes"),
  row("InterPodAffinity", "follows affinity and anti-affinity between Pods"),
  row(
    "DynamicResources",
    "allocates devices to ResourceClaims and reserves them; it takes none back, and ignores devices with counters, binding conditions or several allocations",
  ),
  row("DefaultPreemption", "removes Pods with a lower priority if a Pod cannot run otherwise"),
  row("NodeResourcesBalancedAllocation", "prefers nodes whose resources stay in balance"),
  row("ImageLocality", "prefers nodes that have the images of a Pod"),
  row("DefaultBinder", "binds Pods to nodes"),
  row("NodeDeclaredFeatures", "rejects nodes that do not declare a feature which a Pod needs"),
  row(
    "GangScheduling",
    "schedules the Pods of a PodGroup together",
    "off by default upstream: the gate GenericWorkload",
  ),
  row(
    "DeferredPodScheduling",
    "preempts for Pods that wait to be resized",
    "off by default upstream: the gate InPlacePodVerticalScalingSchedulerPreemption",
  ),
  row(
    "TopologyPlacementGenerator, PodGroupPodsCount",
    "place PodGroups by topology",
    "off by default upstream: the gate TopologyAwareWorkloadScheduling",
  ),
];

/** Plugins that are part of the queue and the binding, not of `default-plugins.ts`. */
export const INHERENT_PLUGINS: ReadonlySet<string> = new Set(["PrioritySort", "DefaultBinder"]);
