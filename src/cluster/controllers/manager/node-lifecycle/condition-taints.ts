import { getMember } from "../../../../base/util/members.ts";
import type { Node, Taint } from "../../../../kinds/types/node.ts";
import { conditionOf } from "../../shared/nodes.ts";
import { isSameTaint } from "../../shared/taints.ts";

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

/** The taint of a node by the status of a condition. */
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: "node.kubernetes.io/memory-pressure" },
  DiskPressure: { True: "node.kubernetes.io/disk-pressure" },
  NetworkUnavailable: { True: "node.kubernetes.io/network-unavailable" },
  PIDPressure: { True: "node.kubernetes.io/pid-pressure" },
};
const NO_SCHEDULE_KEYS = new Set([UNSCHEDULABLE, ...Object.values(KEYS).flatMap((keys) => Object.values(keys))]);
const NO_EXECUTE_KEYS = new Set([NOT_READY, UNREACHABLE]);

/** What the taints of a node depend on besides the node itself. */
export interface TaintDecision {
  /** Removes NoExecute taints of this controller, although the node may not be ready. */
  readonly isSpared: boolean;
  /** The eviction rate of the zone allows a NoExecute taint now. */
  readonly isAllowed: boolean;
  /** `timeAdded` of new taints. */
  readonly time: string;
}

/** The taints that a node must have, and whether its NoExecute taint waits for the eviction rate. */
export interface TaintPlan {
  readonly taints: Taint[];
  readonly isWaiting: boolean;
}

/** Replaces the taints of this controller. Those that stay keep their place and time. */
export function planTaints(node: Node, { isSpared, isAllowed, time }: TaintDecision): TaintPlan {
  const before = node.spec?.taints ?? [];
  const evicting = evictingTaint(node);
  const own = before.filter(({ key = "", effect }) => effect === "NoExecute" && NO_EXECUTE_KEYS.has(key));
  // The other NoExecute taint is replaced at once: Pods are being evicted already.
  const isTainting = evicting !== undefined && !isSpared && (isAllowed || own.length > 0);
  const wanted = [...noScheduleTaints(node), ...(isTainting ? [evicting] : [])];
  const kept = before.filter((taint) => !isControlled(taint) || wanted.some((one) => isSameTaint(one, taint)));
  const added = wanted.filter((taint) => !before.some((one) => isSameTaint(one, taint)));
  return {
    taints: [...kept, ...added.map((taint) => ({ ...taint, timeAdded: time }))],
    isWaiting: evicting !== undefined && !isTainting,
  };
}

function noScheduleTaints(node: Node): Taint[] {
  const keys = (node.status?.conditions ?? []).flatMap(
    ({ type, status }) => getMember(getMember(KEYS, type) ?? {}, status) ?? [],
  );
  if (node.spec?.unschedulable) keys.push(UNSCHEDULABLE);
  return keys.map((key) => ({ key, effect: "NoSchedule" }));
}

/** The taint that evicts Pods from a node that is not ready. */
function evictingTaint(node: Node): Taint | undefined {
  const key = getMember(KEYS.Ready ?? {}, conditionOf(node, "Ready")?.status ?? "");
  return key === undefined ? undefined : { key, effect: "NoExecute" };
}

function isControlled({ key = "", effect }: Taint): boolean {
  return effect === "NoExecute" ? NO_EXECUTE_KEYS.has(key) : effect === "NoSchedule" && NO_SCHEDULE_KEYS.has(key);
}
