import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { Action, WorkloadKind } from "./steps.ts";
import { NODE_LABEL } from "./templates.ts";
import {
  changeAction,
  deleteAction,
  holdAction,
  isObserved,
  labelsFor,
  templateAction,
  templateFor,
} from "./workload-actions.ts";

const COLLECTION = { kind: "DaemonSet", root: "/apis/apps/v1", plural: "daemonsets" };

const rolling = (maxSurge: number | string, maxUnavailable: number | string): JsonObject => ({
  type: "RollingUpdate",
  rollingUpdate: { maxSurge, maxUnavailable },
});
const STRATEGIES: readonly JsonObject[] = [
  { type: "OnDelete" },
  ...[rolling(0, 1), rolling(1, 0), rolling("50%", 0), rolling(0, "100%")],
];
const CHANGES: readonly JsonObject[] = [
  ...[0, 1, 2].map((minReadySeconds) => ({ spec: { minReadySeconds } })),
  ...[0, 1, 2].map((revisionHistoryLimit) => ({ spec: { revisionHistoryLimit } })),
  ...STRATEGIES.map((updateStrategy) => ({ spec: { updateStrategy: { rollingUpdate: null, ...updateStrategy } } })),
  { metadata: { labels: { stage: "test" } } },
];

interface DaemonSet extends KubeObject {
  readonly status?: JsonObject;
}

/** Lets a node match no DaemonSet any more, or match again. */
const nodeAction: Action<DaemonSet> = {
  weight: 2,
  plan(world) {
    const node = world.nodes[1] ?? "";
    const value = world.random.pick([world.namespace, "other"]);
    const body = { metadata: { labels: { [NODE_LABEL]: value } } };
    const request = { method: "PATCH", path: `/api/v1/nodes/${node}`, type: "application/merge-patch+json", body };
    return { title: `label Node ${node} with ${value}`, requests: () => [request] };
  },
};

/** DaemonSets. */
export const DAEMON_SETS: WorkloadKind<DaemonSet> = {
  collection: COLLECTION,
  controllers: ["daemonset-controller"],
  components: ["daemonset-controller"],
  eventRules: { FailedCreate: "ignored", FailedDaemonPod: "presence", SucceededDaemonPod: "presence" },
  create: (world, name) => ({
    spec: {
      selector: { matchLabels: labelsFor(name) },
      template: templateFor(world, name),
      updateStrategy: world.random.pick(STRATEGIES),
      ...(world.random.chance(0.2) && { minReadySeconds: 1 }),
      ...(world.random.chance(0.3) && { revisionHistoryLimit: world.random.below(3) }),
    },
  }),
  actions: [
    templateAction(COLLECTION),
    changeAction(COLLECTION, 3, CHANGES),
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
    nodeAction,
  ],
  isSettled: (object, view) => {
    const {
      currentNumberScheduled,
      desiredNumberScheduled,
      numberReady = 0,
      numberAvailable = 0,
    } = object.status ?? {};
    const isFull = currentNumberScheduled === desiredNumberScheduled || view.of("ResourceQuota").length > 0;
    return isObserved(object) && isFull && numberReady === numberAvailable;
  },
};
