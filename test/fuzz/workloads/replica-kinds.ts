import type { JsonObject } from "../../../src/base/api/object.ts";
import type { WorkloadKind, World } from "./steps.ts";
import {
  changeAction,
  deleteAction,
  hasAllReplicas,
  holdAction,
  labelsFor,
  randomSize,
  scaleAction,
  templateAction,
  templateFor,
  type Workload,
} from "./workload-actions.ts";

const MIN_READY: readonly JsonObject[] = [0, 1, 2].map((minReadySeconds) => ({ spec: { minReadySeconds } }));

function kind(
  root: string,
  plural: string,
  name: string,
  names: { controller: string; component: string },
  selectorFor: (app: string) => JsonObject,
): WorkloadKind<Workload> {
  const collection = { kind: name, root, plural };
  return {
    collection,
    controllers: [names.controller],
    components: [names.component],
    eventRules: { FailedCreate: "ignored" },
    create: (world: World, app: string) => ({
      spec: {
        replicas: randomSize(world.random),
        selector: selectorFor(app),
        template: templateFor(world, app),
        ...(world.random.chance(0.3) && { minReadySeconds: 1 }),
      },
    }),
    actions: [
      scaleAction(collection),
      templateAction(collection, 1),
      changeAction(collection, 1, MIN_READY),
      deleteAction(collection),
      holdAction(collection),
    ],
    isSettled: hasAllReplicas,
  };
}

/** ReplicaSets that no Deployment owns. */
export const REPLICA_SETS = kind(
  "/apis/apps/v1",
  "replicasets",
  "ReplicaSet",
  { controller: "replicaset-controller", component: "replicaset-controller" },
  (app) => ({ matchLabels: labelsFor(app) }),
);

/** ReplicationControllers. */
export const REPLICATION_CONTROLLERS = kind(
  "/api/v1",
  "replicationcontrollers",
  "ReplicationController",
  { controller: "replicationcontroller-controller", component: "replication-controller" },
  labelsFor,
);
