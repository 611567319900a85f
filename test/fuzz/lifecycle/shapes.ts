import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";
import type { StageSet } from "./stage-sets.ts";

/** What happens to a Pod once a watch has shown so many of its states. */
export interface Action {
  readonly after: number;
  readonly method: string;
  readonly body: JsonObject;
}

/** A random Pod and what happens to it. */
export interface PodPlan {
  readonly name: string;
  readonly pod: JsonObject;
  readonly actions: readonly Action[];
  /** It is deleted before its node exists. */
  readonly isEarly: boolean;
}

const RUNNING_FAILED = "pod-container-running-failed.stage.kwok.x-k8s.io";
const INIT_FAILED = "pod-init-container-running-failed.stage.kwok.x-k8s.io";
const GENERAL_STAGES = ["pod-create", "pod-init-container-running", "pod-init-container-completed", "pod-ready"];
/** Stages wait so long that both programs see what happens to a Pod before the next one is due. */
const SLOW = Object.fromEntries(
  [
    ...[...GENERAL_STAGES, "pod-complete"].map((name) => `${name}.stage.kwok.x-k8s.io`),
    RUNNING_FAILED,
    INIT_FAILED,
  ].flatMap((name) => ["delay", "jitter-delay"].map((key) => [`${name}/${key}`, "4s"])),
);

/** A random Pod for a set of Stages. */
export function randomPlan(
  random: Random,
  name: string,
  set: StageSet,
  nodes: { now: string; later: string },
): PodPlan {
  const isEarly = random.chance(0.1);
  const { labels, annotations } = randomMetadata(random, set);
  const actions = isEarly ? [] : randomActions(random, set, labels);
  if (actions.length > 0) Object.assign(annotations, SLOW);
  const finalizers = random.chance(0.25) ? ["example.com/keep", "example.com/other"].slice(random.below(2)) : undefined;
  const metadata: JsonObject = {
    ...{ name, labels, annotations },
    ...(finalizers && { finalizers }),
    ...(random.chance(0.35) && { ownerReferences: [randomOwner(random)] }),
  };
  const spec = { ...randomSpec(random), nodeName: isEarly ? nodes.later : nodes.now };
  return { name, pod: { metadata, spec }, isEarly, actions };
}

function randomOwner(random: Random): JsonObject {
  const kind = random.pick(["Job", "Job", "ReplicaSet"]);
  const apiVersion = kind === "Job" ? "batch/v1" : "apps/v1";
  return { apiVersion, kind, name: "owner", uid: "1", controller: random.chance(0.8) };
}

function randomSpec(random: Random): JsonObject {
  const initContainers = Array.from({ length: random.chance(0.5) ? 0 : 1 + random.below(3) }, (_, index) => ({
    ...container(random, `init-${index}`),
    ...(random.chance(0.4) && { restartPolicy: "Always" }),
  }));
  const containers = Array.from({ length: 1 + random.below(3) }, (_, index) => container(random, `main-${index}`));
  const readinessGates = random.some(2, () => ({ conditionType: `example.com/gate-${random.below(3)}` }));
  return {
    ...{
      containers,
      automountServiceAccountToken: false,
      restartPolicy: random.pick(["Always", "OnFailure", "Never"]),
    },
    ...(initContainers.length > 0 && { initContainers }),
    ...(readinessGates.length > 0 && { readinessGates }),
    ...(random.chance(0.2) && { hostNetwork: true }),
    terminationGracePeriodSeconds: random.below(5),
  };
}

function container(random: Random, name: string): JsonObject {
  const probe = { tcpSocket: { port: 80 }, initialDelaySeconds: 2 };
  return {
    ...{ name, image: random.pick(["nginx", "registry.example/app:1", 'odd "name"']) },
    ...(random.chance(0.3) && { resources: { requests: { cpu: random.pick(["1m", "2m"]) } } }),
    ...(random.chance(0.2) && !name.startsWith("init") && { readinessProbe: probe }),
  };
}

function randomMetadata(random: Random, { hasDelays, hasChaos }: StageSet) {
  const labels: JsonObject = { app: random.pick(["a", "b"]) };
  const annotations: JsonObject = {};
  if (hasDelays) {
    for (const stage of GENERAL_STAGES) {
      if (random.chance(0.2)) annotations[`${stage}.stage.kwok.x-k8s.io/delay`] = random.pick(["1s", "1500ms", "x"]);
      if (random.chance(0.5)) annotations[`${stage}.stage.kwok.x-k8s.io/jitter-delay`] = random.pick(["1s", "2s"]);
    }
  }
  if (!hasChaos) return { labels, annotations };
  for (const stage of [RUNNING_FAILED, INIT_FAILED]) {
    if (!random.chance(stage === INIT_FAILED ? 0.15 : 0.3)) continue;
    labels[stage] = random.pick(["true", "true", "false"]);
    const containerName = random.pick(["main-0", "main-1", "init-0", "init-1"]);
    if (random.chance(0.4)) annotations[`${stage}/container-name`] = containerName;
    if (random.chance(0.4)) annotations[`${stage}/reason`] = random.pick(["OOMKilled", "Error", "yes"]);
    if (random.chance(0.4)) annotations[`${stage}/message`] = random.pick(["it failed", "12", "~"]);
    if (random.chance(0.4)) annotations[`${stage}/exit-code`] = random.pick(["2", "137"]);
    if (random.chance(0.2)) annotations[`${stage}/delay`] = hasDelays ? "1200ms" : random.pick(["1200ms", "0", ""]);
  }
  return { labels, annotations };
}

/** Only where the next Stage waits: otherwise the action may come before or after it. */
function randomActions(random: Random, { hasDelays }: StageSet, labels: JsonObject): Action[] {
  const fails = labels[RUNNING_FAILED] === "true" && labels[INIT_FAILED] === undefined;
  if (!hasDelays && !fails) return [];
  const after = hasDelays ? 1 + random.below(6) : 2;
  const actions: Action[] = [];
  if (random.chance(0.3)) {
    const body = { metadata: { labels: { changed: String(random.below(10)) } } };
    actions.push({ after: hasDelays ? 1 + random.below(4) : 2, method: "PATCH", body });
  }
  if (random.chance(0.5) && !actions.some((action) => action.after === after)) {
    const body = random.chance(0.3) ? { gracePeriodSeconds: random.below(3) } : {};
    actions.push({ after, method: "DELETE", body });
  }
  return actions;
}

/** Pods that are alike and may take several paths, because Stages that match have weights. */
export function weightedPods(set: StageSet, node: string, count: number): JsonObject[] {
  const annotations = { [`${RUNNING_FAILED}/weight`]: set.hasDelays ? "1" : "0" };
  const labels = { [RUNNING_FAILED]: "true" };
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "owner", uid: "1", controller: true };
  const containers = [{ name: "main", image: "nginx" }];
  return Array.from({ length: count }, (_, index) => ({
    metadata: { name: `weighted-${index}`, labels, annotations, ownerReferences: [owner] },
    spec: { containers, nodeName: node, restartPolicy: "Never", automountServiceAccountToken: false },
  }));
}
