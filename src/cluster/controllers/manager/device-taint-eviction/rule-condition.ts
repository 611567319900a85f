import type { Condition } from "../../../../kinds/built-in/shared-rules/conditions.ts";
import type { DeviceTaintRule } from "../../shared/resource-slices.ts";

/** Type of the condition of a DeviceTaintRule. */
export const IN_PROGRESS = "EvictionInProgress";

/** What the condition of a rule reports. */
export interface RuleCounts {
  /** Since the controller started. */
  readonly evictedPods: number;
  /** Pods that must be evicted, or would have to be if the effect was NoExecute, and their namespaces. */
  readonly pods: number;
  readonly namespaces: number;
  /** Devices that the rule selects. Only needed for rules without effect. */
  readonly publishedDevices: number;
  readonly allocatedDevices: number;
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;
const NO_UPDATE = "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.";

/** The condition of a rule, without `lastTransitionTime`. Upstream: maybeUpdateRuleStatus */
export function ruleCondition({ metadata, spec }: DeviceTaintRule, counts: RuleCounts): Condition {
  const { status, reason, message } = progress(spec?.taint?.effect ?? "", counts);
  const { evictedPods } = counts;
  const evicted = evictedPods > 0 ? `${count(evictedPods, "pod", "pods")} evicted since starting the controller.` : "";
  const text = [message, evicted].filter((part) => part !== "").join(" ");
  return { type: IN_PROGRESS, status, observedGeneration: metadata.generation ?? 0, reason, message: text };
}

interface Progress {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function progress(effect: string, counts: RuleCounts): Progress {
  const { pods, namespaces, evictedPods, publishedDevices, allocatedDevices } = counts;
  const where = count(namespaces, "namespace", "different namespaces");
  if (effect === "NoExecute") {
    if (pods === 0) return { status: "False", reason: evictedPods > 0 ? "Completed" : "NotStarted", message: "" };
    const message = `${count(pods, "pod needs", "pods need")} to be evicted in ${where}.`;
    return { status: "True", reason: "PodsPendingEviction", message };
  }
  if (effect !== "None") {
    return { status: "False", reason: "OtherEffect", message: "Eviction only happens for the NoExecute effect." };
  }
  const parts = [
    `${count(publishedDevices, "published device", "published devices")} selected.`,
    `${count(allocatedDevices, "allocated device", "allocated devices")} selected.`,
    `${count(pods, "pod", "pods")} would be evicted in ${where} if the effect was NoExecute.`,
    NO_UPDATE,
  ];
  return { status: "False", reason: "NoEffect", message: parts.join(" ") };
}
