import type { PodCondition } from "../../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { hasFinished } from "../../shared/pods.ts";

const TARGET = "DisruptionTarget";
/** Upstream: stalePodDisruptionTimeout */
const TIMEOUT_MS = 120_000;

/** Resets the condition DisruptionTarget of Pods that were not deleted within two minutes. */
export function staleConditions(name: string, { resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: pods } = informers.of<Pod>("", "pods");

  return loop({
    name,
    workers: 1,
    clock,
    report,
    sources: [
      source(pods, (queue) => (_, after) => {
        const condition = after && targetCondition(after);
        if (condition) queue.addAfter(keyOf(after), leftMs(condition, clock.now()));
      }),
    ],
    async sync(key, queue) {
      const pod = pods.get(key);
      const condition = pod && targetCondition(pod);
      if (!pod || !condition) return;
      const restMs = leftMs(condition, clock.now());
      if (restMs > 0) return queue.addAfter(key, restMs);
      const { generation } = pod.metadata;
      const reset: PodCondition = {
        type: TARGET,
        ...(generation !== undefined && { observedGeneration: generation }),
        status: "False",
        lastTransitionTime: printTime(clock.now()),
      };
      const conditions = pod.status?.conditions?.map((one) => (one === condition ? reset : one)) ?? [];
      const next = { ...pod, status: { ...pod.status, conditions } };
      await client.update(pods.resource, next, { subresource: "status" }).catch(unlessCode(404));
    },
  });
}

/** The condition of a Pod that is neither being deleted nor finished. The kubelet may set it long before a deletion. */
function targetCondition(pod: Pod): PodCondition | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || hasFinished(pod)) return undefined;
  const condition = pod.status?.conditions?.find(({ type }) => type === TARGET);
  return condition?.status === "True" && condition.reason !== "TerminationByKubelet" ? condition : undefined;
}

function leftMs({ lastTransitionTime }: PodCondition, nowMs: number): number {
  const since = lastTransitionTime === undefined ? 0 : Date.parse(lastTransitionTime);
  return Math.max(0, since + TIMEOUT_MS - nowMs);
}
