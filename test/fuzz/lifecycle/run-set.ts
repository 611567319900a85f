import type { JsonObject } from "../../../src/base/api/object.ts";
import { eventually } from "../../support/time.ts";
import { Random } from "../random.ts";
import { differences, printDifference } from "../workloads/differences.ts";
import { addNode, type StageCluster } from "./clusters.ts";
import { type PodPlan, randomPlan, weightedPods } from "./shapes.ts";
import type { StageSet } from "./stage-sets.ts";

/** Both clusters, the one with KWOK first. */
export type Twins = readonly [theirs: StageCluster, ours: StageCluster];

/** What the comparison of a set of Stages found. */
export interface SetOutcome {
  /** Pods whose sequences of states were compared. */
  readonly pods: number;
  readonly states: number;
  /** Paths that Pods with several possible Stages took, in both clusters. */
  readonly paths: number;
  /** Pods that were changed or deleted in another state, because of a busy machine. Not compared. */
  readonly missed: readonly string[];
  readonly differences: readonly string[];
}

const PODS = "/api/v1/namespaces/default/pods";
const MERGE = { "content-type": "application/merge-patch+json" };
const NODES = { now: "worker", later: "late" } as const;
/** Longer than any delay of a Stage. */
const QUIET_MS = 8000;
const WEIGHTED = 40;

/** Creates the same Pods in both clusters and compares the states that they go through. */
export async function runSet(twins: Twins, set: StageSet, seed: number, count: number): Promise<SetOutcome> {
  const random = new Random(seed);
  const plans = Array.from({ length: count }, (_, index) => randomPlan(random, `p${index}`, set, NODES));
  const weighted = set.hasChaos ? weightedPods(set, NODES.now, WEIGHTED) : [];
  await Promise.all(twins.map((cluster) => play(cluster, plans, weighted)));
  return compare(twins, plans, weighted);
}

async function play(cluster: StageCluster, plans: readonly PodPlan[], weighted: readonly JsonObject[]): Promise<void> {
  const { client, states } = cluster;
  await addNode(cluster, NODES.now);
  const pending: Promise<unknown>[] = [];
  for (const { name, actions } of plans) {
    states.onState(name, (seen) => {
      for (const { after, method, body } of actions) {
        if (after === seen) pending.push(client.call(method, `${PODS}/${name}`, body, method === "PATCH" ? MERGE : {}));
      }
    });
  }
  for (const { name, pod, isEarly } of plans) {
    await post(cluster, pod);
    if (isEarly) await client.call("DELETE", `${PODS}/${name}`);
  }
  for (const pod of weighted) await post(cluster, pod);
  await addNode(cluster, NODES.later);
  await settle(cluster);
  for (const { name } of plans) await client.call("DELETE", `${PODS}/${name}`);
  await settle(cluster);
  for (const { name } of plans)
    await client.call("PATCH", `${PODS}/${name}`, { metadata: { finalizers: null } }, MERGE);
  await settle(cluster);
  await Promise.all(pending);
}

async function post({ client }: StageCluster, pod: JsonObject): Promise<void> {
  const { status, body } = await client.call("POST", PODS, pod);
  if (status !== 201) throw new Error(`Pod ${JSON.stringify(pod)}: ${status} ${JSON.stringify(body)}`);
}

/** Resolves when no Stage is left to be played. */
async function settle({ states }: StageCluster): Promise<void> {
  await eventually(() => states.quietMs > QUIET_MS, { everyMs: 100 });
}

function compare([theirs, ours]: Twins, plans: readonly PodPlan[], weighted: readonly JsonObject[]): SetOutcome {
  const missed: string[] = [];
  const found: string[] = [];
  let states = 0;
  for (const { name, pod, actions } of plans) {
    const [there, here] = [theirs.states.of(name), ours.states.of(name)];
    const isMissed = actions.some((action) => !isFollowed(there, action.after) || !isFollowed(here, action.after));
    states += there.length;
    if (JSON.stringify(there) === JSON.stringify(here)) continue;
    if (isMissed) missed.push(name);
    else found.push(`${name} ${JSON.stringify({ ...pod, actions })}\n${printStates(there, here)}`);
  }
  const pathsOf = ({ states: seen }: StageCluster) =>
    new Set(weighted.map((pod) => JSON.stringify(seen.of((pod.metadata as { name: string }).name))));
  const [theirPaths, ourPaths] = [pathsOf(theirs), pathsOf(ours)];
  for (const path of theirPaths) if (!ourPaths.has(path)) found.push(`only KWOK takes the path ${path}`);
  for (const path of ourPaths) if (!theirPaths.has(path)) found.push(`only Binnacle takes the path ${path}`);
  return { pods: plans.length - missed.length, states, paths: theirPaths.size, missed, differences: found };
}

/** Whether the state after an action shows it: labels or the deletion, and nothing that a Stage does. */
function isFollowed(states: readonly JsonObject[], after: number): boolean {
  const [before, next] = [states[after - 1], states[after]];
  return before === undefined || next === undefined || JSON.stringify(before.status) === JSON.stringify(next.status);
}

/** The phases of both sequences, and the first states that differ. */
function printStates(theirs: readonly JsonObject[], ours: readonly JsonObject[]): string {
  const brief = ({ type, metadata, status }: JsonObject) => {
    const { deletionTimestamp } = metadata as { deletionTimestamp?: string };
    return `${type} ${(status as { phase?: string }).phase}${deletionTimestamp ? " deleted" : ""}`;
  };
  const at = theirs.findIndex((state, index) => JSON.stringify(state) !== JSON.stringify(ours[index]));
  const index = at < 0 ? theirs.length : at;
  return [
    `  theirs ${theirs.map(brief).join(", ")}`,
    `  ours   ${ours.map(brief).join(", ")}`,
    ...differences(theirs[index], ours[index], `state ${index}`).map(printDifference),
  ].join("\n");
}
