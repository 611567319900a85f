import type { Pod } from "../../../kinds/types/workloads.ts";
import type { DisruptionBudget } from "../../controllers/manager/disruption/budget-types.ts";
import { messageOf } from "../../controllers/shared/controller.ts";
import { conditionOf } from "../../controllers/shared/pods.ts";
import type { NodeInfo } from "../node-info.ts";
import {
  type FailedAttempt,
  type MakePlugin,
  type PluginContext,
  type PostFilterResult,
  unresolvable,
} from "../plugin.ts";
import { Budgets } from "../preemption/budgets.ts";
import { PreemptionExecutor } from "../preemption/executor.ts";
import { pickCandidate } from "../preemption/pick-candidate.ts";
import { type Candidate, selectVictims } from "../preemption/victims.ts";
import { Unfit } from "../unfit.ts";

const NAME = "DefaultPreemption";
const NOT_HELPFUL = unresolvable(NAME, "Preemption is not helpful for scheduling");

/** DefaultPreemptionArgs of kubescheduler.config.k8s.io. */
export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

/** Default arguments. */
export const PREEMPTION_ARGS: DefaultPreemptionArgs = {
  minCandidateNodesPercentage: 10,
  minCandidateNodesAbsolute: 100,
};

/** Removes Pods of lower priorities from a node if a Pod cannot run otherwise. */
export const defaultPreemption: MakePlugin<DefaultPreemptionArgs> = (context, args) => {
  const { informer, byNamespace } = context.informers.of<DisruptionBudget>("policy", "poddisruptionbudgets");
  const budgets = new Budgets((namespace) => byNamespace.get(namespace));
  const executor = new PreemptionExecutor(context);
  return {
    name: NAME,
    uses: [informer],
    // Other plugins decide when the Pod is tried again. This event only lets them.
    events: [{ resource: "AssignedPod", actions: ["Delete"], hint: () => false }],
    preEnqueue({ metadata }) {
      const isRunning = executor.isRunning(metadata.uid ?? "");
      return isRunning ? "waiting for the preemption for this pod to be finished" : undefined;
    },
    postFilter(attempt) {
      try {
        const result = preempt(context, args, attempt, budgets);
        if (!("node" in result)) return { ...result, message: `preemption: ${result.message}` };
        executor.start(attempt.pod, result);
        const { node, victims } = result;
        const what = `found a potential placement for pod on node ${node.name}, preempting ${victims.length} victims`;
        return { message: `preemption: ${what}`, nominatedNodeName: node.name, isFinal: true };
      } catch (error) {
        return { message: `preemption: ${messageOf(error)}`, isFinal: true };
      }
    },
  };
};

/** The node to make possible, or why none is. Upstream: evaluate */
function preempt(
  { cluster, resources }: PluginContext,
  args: DefaultPreemptionArgs,
  attempt: FailedAttempt,
  budgets: Budgets,
): Candidate | PostFilterResult {
  const message = ineligibility(cluster.node(attempt.pod.pod.status?.nominatedNodeName ?? ""), attempt);
  if (message !== undefined) return { message };
  const nowMs = resources.clock.now();
  const nodes = cluster.nodes.filter((node) => attempt.rejectionOf(node)?.isUnresolvable === false);
  const unfit = new Unfit([], cluster.nodes.length);
  unfit.rejectUntried(NOT_HELPFUL);
  const wanted = Math.max(
    Math.trunc((nodes.length * args.minCandidateNodesPercentage) / 100),
    args.minCandidateNodesAbsolute,
  );
  const candidates: Candidate[] = [];
  const offset = nodes.length === 0 ? 0 : resources.random.integer(nodes.length);
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[(offset + index) % nodes.length] as NodeInfo;
    const result = selectVictims(attempt, node, budgets, nowMs);
    if ("node" in result) candidates.push(result);
    else unfit.reject(node, result);
    if (candidates.length >= wanted && candidates.some(({ violations }) => violations === 0)) break;
  }
  return pickCandidate(candidates, nowMs) ?? { message: unfit.message, nominatedNodeName: "" };
}

/** Why a Pod must not preempt others. Upstream: PodEligibleToPreemptOthers */
function ineligibility(nominated: NodeInfo | undefined, { pod, rejectionOf }: FailedAttempt): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  if (nominated === undefined || rejectionOf(nominated)?.isUnresolvable) return undefined;
  const isLeaving = [...nominated.pods.values()].some(
    (one) => one.priority < pod.priority && isTerminatingByPreemption(one.pod),
  );
  return isLeaving ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

function isTerminatingByPreemption(pod: Pod): boolean {
  const condition = conditionOf(pod, "DisruptionTarget");
  const isPreempted = condition?.status === "True" && condition.reason === "PreemptionByScheduler";
  return pod.metadata.deletionTimestamp !== undefined && isPreempted;
}
