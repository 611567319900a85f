import { isObject, type JsonObject, type KubeObject } from "../../../src/base/api/object.ts";
import type { WorkloadKind } from "./steps.ts";
import {
  changeAction,
  deleteAction,
  holdAction,
  isObserved,
  labelsFor,
  randomSize,
  scaleAction,
  templateAction,
  templateFor,
  type Workload,
} from "./workload-actions.ts";

const COLLECTION = { kind: "StatefulSet", root: "/apis/apps/v1", plural: "statefulsets" };

const rolling = (rollingUpdate: JsonObject): JsonObject => ({ type: "RollingUpdate", rollingUpdate });
const STRATEGIES: readonly JsonObject[] = [
  { type: "OnDelete" },
  ...[rolling({ partition: 0 }), rolling({ partition: 1 }), rolling({ partition: 2 }), rolling({ partition: 9 })],
];
const PARALLEL = "Parallel";
const RETENTION = ["Retain", "Delete"];
const CHANGES: readonly JsonObject[] = [
  ...[0, 1, 2].map((minReadySeconds) => ({ spec: { minReadySeconds } })),
  ...[0, 1, 2].map((revisionHistoryLimit) => ({ spec: { revisionHistoryLimit } })),
  ...[0, 2].map((start) => ({ spec: { ordinals: { start } } })),
  ...STRATEGIES.map((updateStrategy) => ({ spec: { updateStrategy: { rollingUpdate: null, ...updateStrategy } } })),
  ...RETENTION.map((whenScaled) => ({ spec: { persistentVolumeClaimRetentionPolicy: { whenScaled } } })),
  ...RETENTION.map((whenDeleted) => ({ spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted } } })),
  { metadata: { labels: { stage: "test" } } },
];
/** No volume has this class. */
const claimFor = (namespace: string): JsonObject => ({
  metadata: { name: "data" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: `${namespace}.stateful`,
    resources: { requests: { storage: "1Gi" } },
  },
});

/**
 * Whether Pods are created at the same time. Which of them a quota rejects is random: with `--both-real`, two of four runs
 * of one sequence differed. So there is never a quota beside such a StatefulSet.
 */
export const isParallel = ({ spec }: KubeObject): boolean => isObject(spec) && spec.podManagementPolicy === PARALLEL;

/** StatefulSets. */
export const STATEFUL_SETS: WorkloadKind<Workload> = {
  collection: COLLECTION,
  controllers: ["statefulset-controller"],
  components: ["statefulset-controller"],
  eventRules: {
    FailedCreate: "ignored",
    RecreatingFailedPod: "presence",
    RecreatingTerminatedPod: "presence",
    // KWOK deletes Pods by name, sometimes also the next one of the same name.
    SuccessfulCreate: "presence",
  },
  create: (world, name) => {
    const { random, view } = world;
    const hasQuota = view.of("ResourceQuota").length > 0;
    return {
      spec: {
        serviceName: name,
        replicas: randomSize(random),
        selector: { matchLabels: labelsFor(name) },
        template: templateFor(world, name),
        updateStrategy: random.pick(STRATEGIES),
        podManagementPolicy: random.pick(["OrderedReady", hasQuota ? "OrderedReady" : PARALLEL]),
        ...(random.chance(0.2) && { minReadySeconds: 1 }),
        ...(random.chance(0.3) && { revisionHistoryLimit: random.below(3) }),
        ...(random.chance(0.2) && { ordinals: { start: 3 } }),
        // Without a volume, its Pods stay Pending.
        ...(random.chance(0.15) && { volumeClaimTemplates: [claimFor(world.namespace)] }),
      },
    };
  },
  actions: [
    scaleAction(COLLECTION),
    templateAction(COLLECTION),
    changeAction(COLLECTION, 3, CHANGES),
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
  ],
  // With the policy OrderedReady, one Pod that is not ready holds up all others.
  isSettled: (object) =>
    isObserved(object) && (object.status?.readyReplicas ?? 0) === (object.status?.availableReplicas ?? 0),
};
