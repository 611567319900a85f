import type { TopologySpreadConstraint } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { MakePlugin } from "../plugin.ts";
import { defaultSelector } from "./default-selector.ts";
import { readConstraints, type SpreadConstraint, type WhenUnsatisfiable } from "./spread-constraints.ts";
import { spreadEvents } from "./spread-events.ts";
import { spreadFilter } from "./spread-filter.ts";
import { spreadScorer } from "./spread-score.ts";

/** PodTopologySpreadArgs of kubescheduler.config.k8s.io. */
export interface PodTopologySpreadArgs {
  /** Constraints of Pods that have none, if `defaultingType` is List. */
  readonly defaultConstraints?: readonly TopologySpreadConstraint[];
  readonly defaultingType?: string;
}

/** Default arguments of PodTopologySpread. */
export const SPREAD_ARGS: PodTopologySpreadArgs = { defaultingType: "System" };

/** Upstream: systemDefaultConstraints */
const SYSTEM_CONSTRAINTS: readonly TopologySpreadConstraint[] = [
  { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 3 },
  { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 5 },
];

/** Spreads Pods over domains, such as zones and nodes, by their topologySpreadConstraints. */
export const podTopologySpread: MakePlugin<PodTopologySpreadArgs> = (
  { informers, cluster },
  { defaultConstraints = [], defaultingType },
) => {
  const isSystem = defaultingType === "System";
  const defaults = isSystem ? SYSTEM_CONSTRAINTS : defaultConstraints;
  const selector = defaults.length > 0 ? defaultSelector(informers) : undefined;
  const read = new WeakMap<Pod, Map<WhenUnsatisfiable, SpreadConstraint[]>>();

  const constraintsOf = (pod: Pod, type: WhenUnsatisfiable): SpreadConstraint[] => {
    const own = pod.spec?.topologySpreadConstraints ?? [];
    if (own.length === 0) return defaultsOf(pod, type);
    const known = read.get(pod) ?? new Map<WhenUnsatisfiable, SpreadConstraint[]>();
    const constraints = known.get(type) ?? readConstraints(own, type, pod);
    known.set(type, constraints);
    read.set(pod, known);
    return constraints;
  };

  /** They depend on Services and controllers, so they are read for each attempt. */
  const defaultsOf = (pod: Pod, type: WhenUnsatisfiable): SpreadConstraint[] => {
    if (!defaults.some(({ whenUnsatisfiable }) => whenUnsatisfiable === type)) return [];
    const selected = selector?.of(pod) ?? [];
    return selected.length === 0 ? [] : readConstraints(defaults, type, pod, selected);
  };

  return {
    name: "PodTopologySpread",
    events: spreadEvents((pod) => constraintsOf(pod, "DoNotSchedule")),
    uses: selector?.uses ?? [],
    filter(pod) {
      const constraints = constraintsOf(pod.pod, "DoNotSchedule");
      return constraints.length === 0 ? undefined : spreadFilter(pod, constraints, cluster.nodes);
    },
    score({ pod }, nodes) {
      const constraints = constraintsOf(pod, "ScheduleAnyway");
      if (constraints.length === 0) return undefined;
      const hasOwn = (pod.spec?.topologySpreadConstraints ?? []).length > 0;
      return spreadScorer(constraints, nodes, cluster.nodes, hasOwn || !isSystem);
    },
  };
};
