import type { Pod } from "../../kinds/types/workloads.ts";
import type { ObjectClient } from "../../resources/object-client.ts";
import type { Resources } from "../../resources/resources.ts";
import type { ReportProblem } from "../controllers/shared/controller.ts";
import type { Informers } from "../controllers/shared/informers.ts";
import type { ContainerBehaviour, ContainerProcess } from "./behaviour/behaviour.ts";
import type { UsageSource } from "./metrics/container-usage.ts";
import type { NodeConnections } from "./node-connections.ts";

/** The Pods of simulated nodes. */
export interface RunningPods {
  /** Whether a Pod runs on a simulated node. */
  isSimulated(pod: Pod): boolean;
  /** Whether the node of a Pod can be reached. */
  isReachable(pod: Pod): boolean;
  /** The last process of a container. It may have ended. Undefined if it has not started. */
  process(pod: Pod, container: string): ContainerProcess | undefined;
  /** The process before the last restart. */
  previousProcess(pod: Pod, container: string): ContainerProcess | undefined;
}

/** What simulated nodes work with. */
export interface NodesContext {
  /** For reads, which bypass the request pipeline. */
  readonly resources: Resources;
  readonly report: ReportProblem;
  readonly informers: Informers;
  /** The client that acts as `system:node:NAME`. */
  readonly clientOf: (node: string) => ObjectClient;
  /** For what Stages do beyond the rights of a kubelet. */
  readonly stageClient: ObjectClient;
  /** Number of nodes to create at the start. */
  readonly count: number;
  /** Capacity of nodes whose Node has none. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Duration of the Leases of nodes. They are renewed after a quarter of it. Upstream: nodeLeaseDurationSeconds */
  readonly leaseSeconds: number;
  /** A controller assigns `spec.podCIDR`: Pods wait for it. */
  readonly waitsForRanges: boolean;
  /** Which nodes are cut off. */
  readonly connections: NodeConnections;
  /** What containers do. */
  readonly behaviour: ContainerBehaviour;
  /** Answers for the kubelets while the nodes run. Optional. */
  readonly kubelets?: { serve(pods: RunningPods | undefined, usage?: UsageSource): void };
}
