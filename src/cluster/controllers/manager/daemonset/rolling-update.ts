import { addAll } from "../../../../base/util/add-all.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { isAvailable } from "../../shared/pods.ts";
import { isUpdated } from "./daemon-pods.ts";
import { limitsOf } from "./limits.ts";
import type { Observed, Plan } from "./plan.ts";

/** The Pods of a node during a rollout. */
interface OnNode {
  readonly node: string;
  readonly updated?: Pod;
  readonly old?: Pod;
  /** There are several of a kind. The next sync deletes the surplus. */
  readonly isCrowded: boolean;
}

/** Replaces Pods of old templates within the limits of the strategy. Upstream: rollingUpdate */
export function planUpdate(observed: Observed): Plan {
  const { set, placements } = observed;
  const desired = [...placements].filter(([, { shouldRun }]) => shouldRun).map(([node]) => node);
  const { unavailable, surge } = limitsOf(set, desired.length);
  const nodes = [...new Set([...observed.pods.keys(), ...desired])].map((node) => podsOn(observed, node));
  return surge === 0 ? replaceOld(observed, nodes, unavailable) : surgeNew(observed, nodes, surge, desired.length);
}

function podsOn({ set, hash, pods }: Observed, node: string): OnNode {
  const staying = (pods.get(node) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const updated = staying.filter((pod) => isUpdated(set, pod, hash));
  const old = staying.filter((pod) => !isUpdated(set, pod, hash));
  return {
    node,
    ...(updated[0] && { updated: updated[0] }),
    ...(old[0] && { old: old[0] }),
    isCrowded: updated.length > 1 || old.length > 1,
  };
}

const availableAt =
  ({ set, nowMs }: Observed) =>
  (pod: Pod): boolean =>
    isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);

const first = <T>(list: readonly T[], count: number): T[] => list.slice(0, Math.max(0, count));

/** Deletes old Pods. The next sync creates new ones. */
function replaceOld(observed: Observed, nodes: readonly OnNode[], limit: number): Plan {
  const available = availableAt(observed);
  let unavailable = 0;
  const replaced: Pod[] = [];
  const candidates: Pod[] = [];
  for (const { updated, old, isCrowded } of nodes) {
    const only = isCrowded || (updated && old) ? undefined : (updated ?? old);
    if (only && available(only)) {
      if (only === old) candidates.push(old);
      continue;
    }
    unavailable++;
    if (only && only === old) replaced.push(old);
  }
  return { create: [], delete: [...replaced, ...first(candidates, limit - unavailable)] };
}

/** Creates new Pods beside old ones, and deletes old ones that have an available successor. */
function surgeNew(observed: Observed, nodes: readonly OnNode[], limit: number, desired: number): Plan {
  const available = availableAt(observed);
  const plan: Plan = { create: [], delete: [] };
  const candidates: string[] = [];
  const leaving: Pod[] = [];
  let surging = 0;
  let running = 0;
  for (const { node, updated, old, isCrowded } of nodes) {
    if (isCrowded) {
      surging++;
      continue;
    }
    const senior = old ?? updated;
    if (senior && available(senior)) running++;
    if (old === undefined) continue;
    if (updated) {
      if (available(updated)) plan.delete.push(old);
      else surging++;
      continue;
    }
    const shouldRun = shouldRunOn(observed, node);
    if (available(old)) {
      if (shouldRun) candidates.push(node);
      else leaving.push(old);
    } else if (shouldRun) plan.create.push(node);
    else plan.delete.push(old);
  }
  addAll(plan.create, first(candidates, limit - surging));
  // A node that Pods have to leave keeps its Pod until enough others are available.
  addAll(plan.delete, first(leaving, running - desired));
  return plan;
}

function shouldRunOn({ placements }: Observed, node: string): boolean {
  const placement = placements.get(node);
  if (placement === undefined) throw new Error(`couldn't get node for nodeName "${node}": node "${node}" not found`);
  return placement.shouldRun;
}
