import type { MakePlugin } from "./plugin.ts";
import { defaultPreemption, PREEMPTION_ARGS } from "./plugins/default-preemption.ts";
import { dynamicResources } from "./plugins/dynamic-resources.ts";
import { imageLocality } from "./plugins/image-locality.ts";
import { AFFINITY_ARGS, interPodAffinity } from "./plugins/inter-pod-affinity.ts";
import { nodeAffinity } from "./plugins/node-affinity.ts";
import { nodeDeclaredFeatures } from "./plugins/node-declared-features.ts";
import { nodeName } from "./plugins/node-name.ts";
import { nodePorts } from "./plugins/node-ports.ts";
import { BALANCED_ARGS, nodeResourcesBalancedAllocation } from "./plugins/node-resources-balanced-allocation.ts";
import { FIT_ARGS, nodeResourcesFit } from "./plugins/node-resources-fit.ts";
import { nodeUnschedulable } from "./plugins/node-unschedulable.ts";
import { nodeVolumeLimits } from "./plugins/node-volume-limits.ts";
import { podTopologySpread, SPREAD_ARGS } from "./plugins/pod-topology-spread.ts";
import { schedulingGates } from "./plugins/scheduling-gates.ts";
import { taintToleration } from "./plugins/taint-toleration.ts";
import { VOLUME_ARGS, volumeBinding } from "./plugins/volume-binding.ts";
import { volumeRestrictions } from "./plugins/volume-restrictions.ts";
import { volumeZone } from "./plugins/volume-zone.ts";

/** A plugin of the default profile. */
export interface DefaultPlugin {
  readonly name: string;
  readonly make: MakePlugin<never>;
  /** Factor of its scores. Absent if it has none. */
  readonly weight?: number;
  /** Its arguments unless KubeSchedulerConfiguration sets others. */
  readonly args?: object;
}

/** In the order in which kube-scheduler runs them: the first that rejects a node gives the reason. */
export const DEFAULT_PLUGINS: readonly DefaultPlugin[] = [
  { name: "SchedulingGates", make: schedulingGates },
  { name: "NodeName", make: nodeName },
  { name: "NodeUnschedulable", make: nodeUnschedulable },
  { name: "TaintToleration", make: taintToleration, weight: 3 },
  { name: "NodeAffinity", make: nodeAffinity, weight: 2 },
  { name: "NodePorts", make: nodePorts },
  { name: "NodeResourcesFit", make: nodeResourcesFit, weight: 1, args: FIT_ARGS },
  { name: "VolumeRestrictions", make: volumeRestrictions },
  { name: "NodeVolumeLimits", make: nodeVolumeLimits },
  { name: "VolumeBinding", make: volumeBinding, weight: 1, args: VOLUME_ARGS },
  { name: "VolumeZone", make: volumeZone },
  { name: "PodTopologySpread", make: podTopologySpread, weight: 2, args: SPREAD_ARGS },
  { name: "InterPodAffinity", make: interPodAffinity, weight: 2, args: AFFINITY_ARGS },
  { name: "DynamicResources", make: dynamicResources, weight: 2 },
  { name: "DefaultPreemption", make: defaultPreemption, args: PREEMPTION_ARGS },
  {
    name: "NodeResourcesBalancedAllocation",
    make: nodeResourcesBalancedAllocation,
    weight: 1,
    args: BALANCED_ARGS,
  },
  { name: "ImageLocality", make: imageLocality, weight: 1 },
  { name: "NodeDeclaredFeatures", make: nodeDeclaredFeatures },
];
