import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { NamespaceView } from "./cluster-view.ts";
import type { WorkloadKind, World } from "./steps.ts";
import { changeAction, deleteAction, holdAction, isKept, labelsFor, templateFor } from "./workload-actions.ts";

const COLLECTION = { kind: "Job", root: "/apis/batch/v1", plural: "jobs" };
const ENDS = ["Complete", "Failed"];

const CHANGES: readonly JsonObject[] = [
  ...[0, 1, 2, 4].map((parallelism) => ({ spec: { parallelism } })),
  ...[true, false].map((suspend) => ({ spec: { suspend } })),
  { spec: { activeDeadlineSeconds: 2 } },
  { spec: { ttlSecondsAfterFinished: 0 } },
  { metadata: { labels: { stage: "test" } } },
];

/** A Job. */
export interface Job extends KubeObject {
  status?: { conditions?: { type: string }[]; active?: number };
}

/** Whether a Job has ended. */
export const hasEnded = ({ status }: Job): boolean =>
  status?.conditions?.some(({ type }) => ENDS.includes(type)) ?? false;

function countUnfinished({ metadata }: Job, view: NamespaceView): number {
  const isUnfinished = ({ metadata: { ownerReferences = [], deletionTimestamp }, status }: Pod) =>
    ownerReferences.some(({ uid }) => uid === metadata.uid) &&
    deletionTimestamp === undefined &&
    !["Succeeded", "Failed"].includes(status?.phase ?? "");
  return (view.of("Pod") as Pod[]).filter(isUnfinished).length;
}

/** A random spec of a Job whose Pods have the labels of `name`. */
export function randomJobSpec(world: World, name: string): JsonObject {
  const { random } = world;
  const template = templateFor(world, name) as { metadata: JsonObject; spec: JsonObject };
  const metadata = { ...template.metadata, labels: labelsFor(name) };
  const isIndexed = random.chance(0.5);
  return {
    template: { metadata, spec: { ...template.spec, restartPolicy: "Never" } },
    parallelism: random.pick([1, 2, 3, 5]),
    backoffLimit: random.pick([0, 1, 6]),
    ...((isIndexed || random.chance(0.7)) && { completions: random.pick([1, 2, 3, 5]) }),
    ...(isIndexed && { completionMode: "Indexed" }),
    ...(isIndexed && random.chance(0.3) && { backoffLimitPerIndex: random.below(2), maxFailedIndexes: 1 }),
    ...(random.chance(0.2) && { suspend: true }),
    ...(random.chance(0.2) && { ttlSecondsAfterFinished: random.pick([0, 1, 600]) }),
    ...(random.chance(0.2) && { podReplacementPolicy: "Failed" }),
  };
}

/** Jobs. The Pods of most are complete as soon as they run; those of others never run. */
export const JOBS: WorkloadKind<Job> = {
  collection: COLLECTION,
  controllers: ["job-controller"],
  components: ["job-controller"],
  eventRules: { FailedCreate: "ignored" },
  create: (world, name) => ({ spec: randomJobSpec(world, name) }),
  actions: [changeAction(COLLECTION, 6, CHANGES), deleteAction(COLLECTION), holdAction(COLLECTION)],
  isSettled: (object, view) => {
    if (object.metadata.deletionTimestamp !== undefined) return isKept(object);
    const { conditions = [], active = 0 } = object.status ?? {};
    const isWaiting = active > 0 && active === countUnfinished(object, view);
    return hasEnded(object) || conditions.some(({ type }) => type === "Suspended") || isWaiting;
  },
};
