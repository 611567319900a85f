import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { NamespaceView } from "./cluster-view.ts";
import type { WorkloadKind, World } from "./steps.ts";
import { changeAction, deleteAction, holdAction, isObserved, type Workload } from "./workload-actions.ts";

const COLLECTION = {
  kind: "HorizontalPodAutoscaler",
  root: "/apis/autoscaling/v2",
  plural: "horizontalpodautoscalers",
};

/** Kinds that can be scaled, with their API versions. */
const TARGETS: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  ReplicaSet: "apps/v1",
  StatefulSet: "apps/v1",
  ReplicationController: "v1",
};
/** Not scalable, unknown, or missing. */
const OTHER_TARGETS: readonly JsonObject[] = [
  { kind: "DaemonSet", name: "none", apiVersion: "apps/v1" },
  { kind: "Deployment", name: "none", apiVersion: "apps/v1" },
  { kind: "Ship", name: "none", apiVersion: "example.com/v1" },
];

const utilization = { type: "Utilization", averageUtilization: 50 };
const averageValue = { type: "AverageValue", averageValue: "100m" };
const value = { type: "Value", value: "3" };
const describedObject = { kind: "Service", name: "web", apiVersion: "v1" };
const selector = { matchLabels: { queue: "a" } };
const METRICS: readonly JsonObject[] = [
  { type: "Resource", resource: { name: "cpu", target: utilization } },
  { type: "Resource", resource: { name: "memory", target: averageValue } },
  { type: "ContainerResource", containerResource: { name: "cpu", container: "main", target: utilization } },
  { type: "Pods", pods: { metric: { name: "requests" }, target: averageValue } },
  { type: "Object", object: { metric: { name: "requests" }, describedObject, target: value } },
  { type: "Object", object: { metric: { name: "requests" }, describedObject, target: averageValue } },
  { type: "External", external: { metric: { name: "queue", selector }, target: averageValue } },
  { type: "External", external: { metric: { name: "queue" }, target: value } },
];
const CHANGES: readonly JsonObject[] = [
  ...[1, 2, 4].map((minReplicas) => ({ spec: { minReplicas, maxReplicas: minReplicas + 2 } })),
  ...METRICS.map((metric) => ({ spec: { metrics: [metric] } })),
  { spec: { behavior: { scaleUp: { stabilizationWindowSeconds: 1, tolerance: "0.05" } } } },
  { metadata: { labels: { stage: "test" } } },
];

interface Autoscaler extends KubeObject {
  readonly spec: JsonObject & {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
  };
  readonly status?: JsonObject & { readonly currentReplicas?: number };
}

/** A target that no other autoscaler has: of several autoscalers for the same Pods, the message names any two. */
function freeTarget({ view, random }: World): JsonObject {
  const taken = new Set((view.of(COLLECTION.kind) as Autoscaler[]).map(({ spec }) => spec.scaleTargetRef.name));
  const free = Object.entries(TARGETS).flatMap(([kind, apiVersion]) =>
    view
      .of(kind)
      .filter(({ metadata }) => !taken.has(metadata.name ?? "") && (metadata.ownerReferences ?? []).length === 0)
      .map(({ metadata }): JsonObject => ({ kind, name: metadata.name ?? "", apiVersion })),
  );
  return random.pick(free.length > 0 && random.chance(0.85) ? free : OTHER_TARGETS);
}

/** Autoscalers act every 15 seconds. They have nothing to do once they know the size of the target. */
function isSettled(object: Autoscaler, view: NamespaceView): boolean {
  const { spec, status, metadata } = object;
  const { kind, name } = spec.scaleTargetRef;
  const target = view.get(kind, name) as Workload | undefined;
  const conditions = JSON.stringify(status?.conditions ?? []);
  if (metadata.deletionTimestamp !== undefined) return isObserved(object);
  if (target === undefined || target.metadata.deletionTimestamp !== undefined)
    return conditions.includes("FailedGetScale");
  const replicas = target.spec.replicas ?? 1;
  if (replicas === 0) return conditions.includes("ScalingDisabled") && status?.currentReplicas === undefined;
  const isWithin = replicas >= (spec.minReplicas ?? 1) && replicas <= spec.maxReplicas;
  return isObserved(object) && isWithin && status?.currentReplicas === replicas && conditions.includes("ScalingActive");
}

/** HorizontalPodAutoscalers without a server of metrics. */
export const AUTOSCALERS: WorkloadKind<Autoscaler> = {
  collection: COLLECTION,
  isDependent: true,
  controllers: ["horizontal-pod-autoscaler-controller"],
  components: ["horizontal-pod-autoscaler"],
  eventRules: {
    ...Object.fromEntries(
      ["Resource", "ContainerResource", "Pods", "Object", "External"].map((type) => [
        `FailedGet${type}Metric`,
        "presence" as const,
      ]),
    ),
    FailedComputeMetricsReplicas: "presence",
    FailedGetScale: "presence",
    FailedRescale: "ignored",
    FailedUpdateStatus: "ignored",
    SuccessfulRescale: "presence",
  },
  create: (world) => {
    const { random } = world;
    const minReplicas = random.pick([1, 1, 2, 3]);
    return {
      spec: {
        scaleTargetRef: freeTarget(world),
        minReplicas,
        maxReplicas: minReplicas + random.below(4),
        metrics: random.some(2, () => random.pick(METRICS)),
      },
    };
  },
  actions: [changeAction(COLLECTION, 5, CHANGES), deleteAction(COLLECTION), holdAction(COLLECTION)],
  isSettled,
};
