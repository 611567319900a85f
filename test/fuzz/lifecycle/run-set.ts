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
  /** Pods that had to run again, because they were changed or deleted too late for a program on a busy machine. */
  readonly repeated: number;
  readonly differences: readonly string[];
}

const PODS = "/api/v1/namespaces/default/pods";
const MERGE = { "content-type": "application/merge-patch+json" };
const NODES = { now: "worker", later: "late" } as const;
/** Longer than any delay of a Stage. */
const QUIET_MS = 8000;
const WEIGHTED = 40;
/** How often Pods run again whose sequences may differ because of the moment of a change. */
const REPEATS = 2;

/** Creates the same Pods in both clusters and compares the states that they go through. */
export async function runSet(twins: Twins, set: StageSet, seed: number, count: number): Promise<SetOutcome> {
  const random = new Random(seed);
  const plans = Array.from({ length: count }, (_, index) => randomPlan(random, `p${index}`, set, NODES));
  const weighted = set.hasChaos ? weightedPods(set, NODES.now, WEIGHTED) : [];
  for (const cluster of twins) await addNode(cluster, NODES.now);
  await Promise.all(twins.map((cluster) => play(cluster, plans, weighted)));
  let different = plans.filter((plan) => isDifferent(twins, plan));
  let repeated = 0;
  for (let round = 1; round <= REPEATS && different.some(({ actions }) => actions.length > 0); round += 1) {
    const again = different.filter(({ actions }) => actions.length > 0).map((plan) => renamed(plan, round));
    repeated += again.length;
    await Promise.all(twins.map((cluster) => play(cluster, again, [])));
    const failed = again.filter((plan) => isDifferent(twins, plan));
    different = [...different.filter(({ actions }) => actions.length === 0), ...failed];
  }
  const states = plans.reduce((sum, { name }) => sum + twins[0].states.of(name).length, 0);
  const { paths, onlyOne } = comparePaths(twins, weighted);
  const differences = [...different.map((plan) => printPlan(twins, plan)), ...onlyOne];
  return { pods: plans.length, states, paths, repeated, differences };
}

function renamed(plan: PodPlan, round: number): PodPlan {
  const name = `${plan.name}-${round}`;
  return { ...plan, name, pod: { ...plan.pod, metadata: { ...(plan.pod.metadata as JsonObject), name } } };
}

function isDifferent([theirs, ours]: Twins, { name }: PodPlan): boolean {
  return JSON.stringify(theirs.states.of(name)) !== JSON.stringify(ours.states.of(name));
}

async function play(cluster: StageCluster, plans: readonly PodPlan[], weighted: readonly JsonObject[]): Promise<void> {
  const { client, states } = cluster;
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
  if (plans.some(({ isEarly }) => isEarly)) await addNode(cluster, NODES.later);
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

/** Compares the sets of paths that Pods took whose Stages were chosen by weight. */
function comparePaths([theirs, ours]: Twins, weighted: readonly JsonObject[]) {
  const pathsOf = ({ states }: StageCluster) =>
    new Set(weighted.map((pod) => JSON.stringify(states.of((pod.metadata as { name: string }).name))));
  const [there, here] = [pathsOf(theirs), pathsOf(ours)];
  const onlyOne = [
    ...[...there].filter((path) => !here.has(path)).map((path) => `only KWOK takes the path ${path}`),
    ...[...here].filter((path) => !there.has(path)).map((path) => `only Binnacle takes the path ${path}`),
  ];
  return { paths: there.size, onlyOne };
}

function printPlan([theirs, ours]: Twins, { name, pod, actions }: PodPlan): string {
  const states = printStates(theirs.states.of(name), ours.states.of(name));
  return `${name} ${JSON.stringify({ ...pod, actions })}\n${states}`;
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
