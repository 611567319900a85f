import { hasPodLevelRequests, podAmountsInUse } from "../../../access/admission/plugins/pod-resources.ts";
import { getMember } from "../../../base/util/members.ts";
import { isExtendedResource } from "../../../kinds/built-in/shared-rules/resource-names.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { NodeInfo } from "../node-info.ts";
import type { MakePlugin, Rejection } from "../plugin.ts";
import { MISSING_REQUESTS, type PodInfo, podInfoOf } from "../pod-info.ts";
import { amountOf, namesOf, type ResourceTotals, totalsOf } from "../resource-totals.ts";
import {
  leastAllocated,
  mostAllocated,
  type ResourceSpec,
  requestedToCapacityRatio,
  type ShapePoint,
  type UsageScore,
  usageScorer,
} from "./resource-scores.ts";

const NAME = "NodeResourcesFit";

/** NodeResourcesFitArgs of kubescheduler.config.k8s.io. */
export interface NodeResourcesFitArgs {
  /** Extended resources that are not checked. */
  readonly ignoredResources?: readonly string[];
  /** Prefixes of extended resources that are not checked, as in `example.com`. */
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy: ScoringStrategy;
}

interface ScoringStrategy {
  readonly type: string;
  readonly resources?: readonly ResourceSpec[];
  readonly requestedToCapacityRatio?: { readonly shape?: readonly ShapePoint[] };
}

const DEFAULT_RESOURCES: readonly ResourceSpec[] = [{ name: "cpu" }, { name: "memory" }];

/** Default arguments. */
export const FIT_ARGS: NodeResourcesFitArgs = { scoringStrategy: { type: "LeastAllocated" } };

/** Rejects nodes without enough free resources, and prefers nodes by what is left on them. */
export const nodeResourcesFit: MakePlugin<NodeResourcesFitArgs> = (_, args) => {
  const isIgnored = ignoredBy(args);
  const scoreOf = strategyOf(args.scoringStrategy);
  const { resources = [] } = args.scoringStrategy;
  const scored = resources.length > 0 ? resources : DEFAULT_RESOURCES;
  return {
    name: NAME,
    events: [
      {
        resource: "AssignedPod",
        actions: ["Delete"],
        hint: (_pod, before) => hasPlace(before as Pod),
      },
      { resource: "Node", actions: ["Add", "UpdateNodeAllocatable"], hint: fitsNow },
      { resource: "AssignedPod", actions: ["UpdatePodScaleDown"], hint: mayFreeRequested },
      { resource: "TargetPod", actions: ["UpdatePodScaleDown"] },
    ],
    filter: ({ requests }) => ({ check: fitCheck(requests, isIgnored) }),
    score: (pod) => ({ score: usageScorer(scored, scoredRequests(pod), ({ minimum }) => minimum, scoreOf) }),
  };
};

type IsIgnored = (resource: string) => boolean;

function ignoredBy({ ignoredResources = [], ignoredResourceGroups = [] }: NodeResourcesFitArgs): IsIgnored {
  const [names, groups] = [new Set(ignoredResources), new Set(ignoredResourceGroups)];
  if (names.size + groups.size === 0) return () => false;
  return (name) => isExtendedResource(name) && (names.has(name) || groups.has(name.split("/")[0] ?? ""));
}

/** Returns a function that finds the resources of which a node has too little. */
function fitCheck(requests: ResourceTotals, isIgnored: IsIgnored): (node: NodeInfo) => Rejection | undefined {
  const wanted = namesOf(requests)
    .map((name) => ({ name, amount: amountOf(requests, name), reason: `Insufficient ${name}` }))
    .filter(({ name, amount }) => amount > 0 && !isIgnored(name));
  const reasons = ["Too many pods", ...wanted.map(({ reason }) => reason)];
  const known = new Map<number, Rejection>();
  // Runs for every node, so it creates each rejection once: for a set of reasons, as a sum of powers of two.
  return ({ allocatable, requested, pods }) => {
    let lacking = pods.size + 1 > allocatable.pods ? 1 : 0;
    let isUnresolvable = false;
    for (let index = 0; index < wanted.length; index++) {
      const { name, amount } = wanted[index] as (typeof wanted)[number];
      const total = amountOf(allocatable, name);
      if (amount <= total - amountOf(requested, name)) continue;
      lacking += 2 ** (index + 1);
      isUnresolvable ||= amount > total;
    }
    if (lacking === 0) return undefined;
    const key = isUnresolvable ? -lacking : lacking;
    const rejection = known.get(key) ?? rejectionFor(reasons, lacking, isUnresolvable);
    known.set(key, rejection);
    return rejection;
  };
}

function rejectionFor(reasons: readonly string[], lacking: number, isUnresolvable: boolean): Rejection {
  const isLacking = (_: string, index: number) => Math.trunc(lacking / 2 ** index) % 2 === 1;
  return { plugin: NAME, reasons: reasons.filter(isLacking), isUnresolvable };
}

const STRATEGIES: Readonly<Record<string, (strategy: ScoringStrategy) => UsageScore>> = {
  LeastAllocated: () => leastAllocated,
  MostAllocated: () => mostAllocated,
  RequestedToCapacityRatio: (strategy) => requestedToCapacityRatio(strategy.requestedToCapacityRatio?.shape ?? []),
};

function strategyOf(strategy: ScoringStrategy): UsageScore {
  const make = getMember(STRATEGIES, strategy.type);
  if (make === undefined) throw new Error(`scoring strategy ${strategy.type} is not supported`);
  return make(strategy);
}

/** Compat: this score ignores requests of the Pod as a whole (`SkipPodLevelResources`). */
function scoredRequests({ pod, minimum }: PodInfo): ResourceTotals {
  if (!hasPodLevelRequests(pod.spec ?? {})) return minimum;
  return totalsOf(podAmountsInUse(pod, "requests", { missing: MISSING_REQUESTS, skipsPodLevel: true }));
}

const hasPlace = ({ spec, status }: Pod) => Boolean(spec?.nodeName || status?.nominatedNodeName);

/** Whether the Pod fits on an empty node, and if the node is not new, whether it has more of what the Pod requests. */
function fitsNow(pod: Pod, before: object | undefined, after: object | undefined): boolean {
  const { requests } = podInfoOf(pod);
  const now = emptyNode(after as Node);
  if (fitCheck(requests, () => false)(now) !== undefined) return false;
  if (before === undefined) return true;
  const earlier = emptyNode(before as Node);
  if (now.allocatable.pods > earlier.allocatable.pods) return true;
  return namesOf(requests).some(
    (name) => amountOf(requests, name) > 0 && amountOf(now.allocatable, name) > amountOf(earlier.allocatable, name),
  );
}

function emptyNode(node: Node): NodeInfo {
  const info = new NodeInfo(node.metadata.name ?? "");
  info.setNode(node);
  return info;
}

/** Whether a Pod on a node requests less of something that the waiting Pod requests. */
function mayFreeRequested(pod: Pod, before: object | undefined, after: object | undefined): boolean {
  const { requests } = podInfoOf(pod);
  const [more, less] = [podInfoOf(before as Pod).requests, podInfoOf(after as Pod).requests];
  return namesOf(requests).some((name) => amountOf(requests, name) > 0 && amountOf(more, name) > amountOf(less, name));
}
