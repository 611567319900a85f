import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Deployment, ReplicaSet } from "../../../src/kinds/types/workloads.ts";
import type { NamespaceView } from "./cluster-view.ts";
import { REPLICA_SETS } from "./replica-kinds.ts";
import { type Action, mergeStep, pathOf, type Step, type WorkloadKind, type World } from "./steps.ts";
import { NODE_LABEL } from "./templates.ts";
import {
  changeAction,
  deleteAction,
  holdAction,
  isKept,
  labelsFor,
  randomSize,
  scaleAction,
  templateAction,
  templateFor,
} from "./workload-actions.ts";

const COLLECTION = { kind: "Deployment", root: "/apis/apps/v1", plural: "deployments" };
const REVISION = "deployment.kubernetes.io/revision";
/** Deployments with a longer deadline do not reach it within a sequence. */
const SHORT_DEADLINE_SECONDS = 10;
const ENDS = new Set(["NewReplicaSetAvailable", "ProgressDeadlineExceeded"]);

const rolling = (maxSurge: number | string, maxUnavailable: number | string): JsonObject => ({
  type: "RollingUpdate",
  rollingUpdate: { maxSurge, maxUnavailable },
});
const STRATEGIES: readonly JsonObject[] = [
  { type: "Recreate" },
  ...[
    rolling("25%", "25%"),
    rolling(1, 0),
    rolling(0, 1),
    rolling("100%", "100%"),
    rolling(2, 2),
    rolling("10%", 0),
    rolling(0, "10%"),
    rolling(0, "60%"),
  ],
];

const CHANGES: readonly JsonObject[] = [
  ...[0, 1, 2].map((minReadySeconds) => ({ spec: { minReadySeconds } })),
  ...[0, 1, 2].map((revisionHistoryLimit) => ({ spec: { revisionHistoryLimit } })),
  ...[3, 4, 600, 2147483647].map((progressDeadlineSeconds) => ({ spec: { progressDeadlineSeconds } })),
  ...STRATEGIES.map((strategy) => ({ spec: { strategy: { rollingUpdate: null, ...strategy } } })),
  { metadata: { annotations: { "example.com/team": "blue" } } },
  { metadata: { annotations: { "example.com/team": null, "kubernetes.io/change-cause": "fuzz" } } },
  { metadata: { labels: { stage: "test" } } },
];

const old = (world: World, { metadata }: Deployment): ReplicaSet[] =>
  (world.view.of("ReplicaSet") as ReplicaSet[])
    .filter((set) => set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
    .filter((set) => set.metadata.annotations?.[REVISION] !== metadata.annotations?.[REVISION])
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));

/** The request of `kubectl rollout undo --to-revision`. */
function undo(world: World, target: Deployment, set: ReplicaSet): Step {
  const { "pod-template-hash": _, ...labels } = set.spec.template?.metadata?.labels ?? {};
  const template = { ...set.spec.template, metadata: { ...set.spec.template?.metadata, labels } };
  const path = pathOf(world, COLLECTION, target.metadata.name);
  const body = [{ op: "replace", path: "/spec/template", value: template }];
  return {
    title: `undo Deployment ${target.metadata.name} to ReplicaSet ${set.metadata.name}`,
    requests: () => [{ method: "PATCH", path, body, type: "application/json-patch+json" }],
  };
}

const undoAction: Action<Deployment> = {
  weight: 2,
  plan(world, target) {
    const sets = old(world, target);
    return sets.length === 0 ? undefined : undo(world, target, world.random.pick(sets));
  },
};

/** Another ReplicaSet takes the name that an undo needs. */
const collideAction: Action<Deployment> = {
  weight: 1,
  plan(world, target) {
    const sets = old(world, target).filter(({ spec }) => spec.replicas === 0);
    if (sets.length === 0 || target.spec.paused) return undefined;
    const set = world.random.pick(sets);
    const { title, requests } = undo(world, target, set);
    const { name = "" } = set.metadata;
    const labels = { app: `foreign-${world.nextNumber()}` };
    const template = {
      metadata: { labels },
      spec: {
        // Nodes of other sequences may be deleted at any time.
        nodeSelector: { [NODE_LABEL]: world.namespace },
        containers: [{ name: "main", image: "foreign" }],
      },
    };
    const body = { metadata: { name, labels }, spec: { replicas: 0, selector: { matchLabels: labels }, template } };
    const path = pathOf(world, REPLICA_SETS.collection);
    return {
      title: `${title} while another ReplicaSet has its name`,
      requests: (cluster) => [
        { method: "DELETE", path: `${path}/${name}` },
        { method: "POST", path, body },
        ...requests(cluster),
      ],
    };
  },
};

const rollbackAction: Action<Deployment> = {
  weight: 1,
  plan: (world, target) =>
    mergeStep(world, "roll back", COLLECTION, target, {
      metadata: { annotations: { "deprecated.deployment.rollback.to": String(world.random.below(4)) } },
    }),
};

const pauseAction: Action<Deployment> = {
  weight: 3,
  plan: (world, target) =>
    mergeStep(world, "pause or resume", COLLECTION, target, { spec: { paused: !target.spec.paused } }),
};

/** Changes a ReplicaSet of the Deployment. */
const setAction: Action<Deployment> = {
  weight: 1,
  plan(world, { metadata }) {
    const sets = (world.view.of("ReplicaSet") as ReplicaSet[])
      .filter((set) => set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
      .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    if (sets.length === 0) return undefined;
    const changes = [{ metadata: { labels: { extra: "x" } } }, { metadata: { annotations: { [REVISION]: "7" } } }];
    return mergeStep(world, "change", REPLICA_SETS.collection, world.random.pick(sets), world.random.pick(changes));
  },
};

function isSettled(object: Deployment, _view: NamespaceView): boolean {
  const { metadata, spec, status } = object;
  if (metadata.deletionTimestamp !== undefined) return isKept(object);
  if (status?.observedGeneration !== metadata.generation) return false;
  const isLate = (spec.progressDeadlineSeconds ?? 600) <= SHORT_DEADLINE_SECONDS && !spec.paused;
  const reason = status?.conditions?.find(({ type }) => type === "Progressing")?.reason ?? "";
  return !isLate || ENDS.has(reason);
}

/** Deployments. */
export const DEPLOYMENTS: WorkloadKind<Deployment> = {
  collection: COLLECTION,
  controllers: ["deployment-controller"],
  components: ["deployment-controller"],
  eventRules: {
    ScalingReplicaSet: "steps",
    ReplicaSetCreateError: "presence",
  },
  create: (world, name) => {
    const { random } = world;
    const selector = random.chance(0.3)
      ? { matchExpressions: [{ key: "app", operator: "In", values: [name, "other"] }] }
      : { matchLabels: labelsFor(name) };
    return {
      ...(random.chance(0.3) && { metadata: { annotations: { "example.com/team": "red" } } }),
      spec: {
        replicas: randomSize(random),
        selector,
        template: templateFor(world, name),
        strategy: random.pick(STRATEGIES),
        ...(random.chance(0.3) && { minReadySeconds: 1 }),
        ...(random.chance(0.3) && { revisionHistoryLimit: random.below(3) }),
        ...(random.chance(0.3) && { progressDeadlineSeconds: random.pick([3, 4, 2147483647]) }),
        ...(random.chance(0.15) && { paused: true }),
      },
    };
  },
  actions: [
    scaleAction(COLLECTION),
    templateAction(COLLECTION),
    changeAction(COLLECTION, 3, CHANGES),
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
    undoAction,
    collideAction,
    rollbackAction,
    pauseAction,
    setAction,
  ],
  isSettled,
};
