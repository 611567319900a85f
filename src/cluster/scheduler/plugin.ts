import type { Pod } from "../../kinds/types/workloads.ts";
import type { ControllerContext } from "../controllers/shared/controller.ts";
import type { Informer } from "../controllers/shared/informer.ts";
import type { Informers } from "../controllers/shared/informers.ts";
import type { EventOfInterest } from "./cluster-events.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { NodeInfo } from "./node-info.ts";
import type { NominatedPods } from "./nominated-pods.ts";
import type { PodInfo } from "./pod-info.ts";
import type { PodEvent } from "./scheduler-events.ts";

/**
 * A plugin of kube-scheduler, under its upstream name. All functions are synchronous and see the same state of the
 * cluster. If one throws, the Pod gets the reason SchedulerError and is tried again.
 */
export interface Plugin {
  readonly name: string;
  /** Changes that may make a Pod schedulable that this plugin has rejected. Upstream: EventsToRegister */
  readonly events?: readonly EventOfInterest[];
  /** Informers besides those of `events`, Nodes and Pods. They are loaded before the first Pod is scheduled. */
  readonly uses?: readonly Pick<Informer, "use">[];
  /** Why a Pod must not be scheduled yet. Upstream: PreEnqueue */
  preEnqueue?(pod: Pod): string | undefined;
  /** Reads what a Pod requires of nodes. Undefined if it requires nothing of this plugin. Upstream: PreFilter */
  filter?(pod: PodInfo): Filter | undefined;
  /** Called if no node is possible. Upstream: PostFilter */
  postFilter?(attempt: FailedAttempt): PostFilterResult;
  /**
   * Reads what a Pod prefers, of the nodes that all filters allow. Undefined if no node is better for this plugin.
   * `filter` is what the plugin's own `filter` returned for the Pod. Upstream: PreScore
   */
  score?(pod: PodInfo, nodes: readonly NodeInfo[], filter: Filter | undefined): Scorer | undefined;
}

/** Which nodes one plugin allows for one Pod. It lasts for one attempt to schedule the Pod. */
export interface Filter {
  /** Set if no node is possible, for a reason that does not depend on a node. */
  readonly rejection?: Rejection;
  /** The only possible nodes. Absent: all. Upstream: PreFilterResult */
  readonly nodeNames?: ReadonlySet<string>;
  /** Undefined if the Pod can run on the node. Must not create objects that it can share. Upstream: Filter */
  check(node: NodeInfo): Rejection | undefined;
  /**
   * A copy that can change by `addPod` and `removePod`. Absent if `check` depends on nothing but the node that it gets.
   * Upstream: PreFilterExtensions and Clone
   */
  copy?(): ChangingFilter;
  /** Reserves the chosen node in memory, before the Pod is bound. Upstream: Reserve */
  reserve?(node: NodeInfo): Rejection | undefined;
  /** Takes back `reserve`. Called even if `reserve` was not. Upstream: Unreserve */
  unreserve?(node: NodeInfo): void;
  /**
   * Writes what must be written before the Pod is bound. Absent after `reserve`: nothing. The signal aborts when the
   * scheduler stops. Upstream: PreBind
   */
  preBind?(node: NodeInfo, signal: AbortSignal): Promise<void>;
}

/** A filter of an attempt, and the plugin that returned it. */
export interface PluginFilter {
  readonly plugin: Plugin;
  readonly filter: Filter;
}

/** A filter for simulations, in which other Pods come and go. */
export interface ChangingFilter extends Filter {
  /** Called after the Pod was added to the node. */
  addPod(pod: PodInfo, node: NodeInfo): void;
  /** Called after the Pod was removed from the node. */
  removePod(pod: PodInfo, node: NodeInfo): void;
}

/** How good one plugin finds each node for one Pod. */
export interface Scorer {
  /** Without `normalize`: from 0 to 100. Always an integer. Upstream: Score */
  score(node: NodeInfo): number;
  /** Brings the scores of all nodes to 0 to 100, in place. Upstream: NormalizeScore */
  normalize?(scores: number[], nodes: readonly NodeInfo[]): void;
}

/** An attempt to schedule a Pod for which no node is possible. */
export interface FailedAttempt {
  readonly pod: PodInfo;
  /** Set if all nodes were rejected at once. Plugins that come later have not seen the Pod. */
  readonly general?: Rejection | undefined;
  /** Why a node is not possible. */
  rejectionOf(node: NodeInfo): Rejection | undefined;
  /** Tries what would happen if other Pods were not on the node. */
  simulate(node: NodeInfo): NodeSimulation;
}

/** A node on which Pods come and go while the cluster stays as it is. */
export interface NodeSimulation {
  readonly node: NodeInfo;
  addPod(pod: PodInfo): void;
  removePod(pod: PodInfo): void;
  /** Why the waiting Pod cannot run here. */
  check(): Rejection | undefined;
}

/** What a plugin does for a Pod that no node can run. */
export interface PostFilterResult {
  /** Appended to the message of the Pod. */
  readonly message?: string;
  /** The node that will become possible for the Pod. Empty: none. Absent: unchanged. */
  readonly nominatedNodeName?: string;
  /** No further plugin is called. */
  readonly isFinal?: boolean;
}

/** Why a Pod cannot run on a node, or on any. Plugins should create each one once. */
export interface Rejection {
  readonly plugin: string;
  /** Part of the message, as in "0/3 nodes are available: 3 REASON." */
  readonly reasons: readonly string[];
  /** Removing other Pods would not help. Upstream: UnschedulableAndUnresolvable, as opposed to Unschedulable */
  readonly isUnresolvable: boolean;
}

/** A rejection that removing other Pods may solve. */
export function unschedulable(plugin: string, ...reasons: readonly string[]): Rejection {
  return { plugin, reasons, isUnresolvable: false };
}

/** A rejection that removing other Pods cannot solve. */
export function unresolvable(plugin: string, ...reasons: readonly string[]): Rejection {
  return { plugin, reasons, isUnresolvable: true };
}

/** What plugins work with. `client` writes as the scheduler. */
export interface PluginContext extends ControllerContext {
  readonly informers: Informers;
  /** Nodes with their Pods. */
  readonly cluster: ClusterState;
  /** Pods that wait for room on a node. */
  readonly nominated: NominatedPods;
  /** Records an Event about a Pod. */
  readonly record: (pod: Pod, event: PodEvent) => void;
  /** Tries a Pod again that was rejected. */
  readonly retry: (uid: string) => void;
}

/** Creates a plugin. `args`: its arguments in KubeSchedulerConfiguration, over the defaults. */
export type MakePlugin<Args = unknown> = (context: PluginContext, args: Args) => Plugin;

/** The highest score of a node by one plugin. */
export const MAX_SCORE = 100;

/**
 * Scales scores so that the highest becomes 100. `isReversed`: so that it becomes 0, and 0 becomes 100.
 *
 * Upstream: DefaultNormalizeScore
 */
export function normalizeScores(scores: number[], isReversed = false): void {
  let highest = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (let index = 0; index < scores.length; index++) {
    const score = highest === 0 ? 0 : Math.trunc((MAX_SCORE * (scores[index] ?? 0)) / highest);
    scores[index] = isReversed ? MAX_SCORE - score : score;
  }
}
