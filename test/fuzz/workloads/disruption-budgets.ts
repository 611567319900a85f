import { isDeepStrictEqual } from "node:util";
import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import { randomLabels } from "./services.ts";
import { mergeStep, type WorkloadKind, type World } from "./steps.ts";
import { changeAction, deleteAction, holdAction, isObserved } from "./workload-actions.ts";

const COLLECTION = { kind: "PodDisruptionBudget", root: "/apis/policy/v1", plural: "poddisruptionbudgets" };
const LIMITS: readonly (number | string)[] = [0, 1, 2, "0%", "1%", "33%", "50%", "100%"];

const NO_LIMITS = { minAvailable: null, maxUnavailable: null };
const CHANGES: readonly JsonObject[] = [
  ...LIMITS.map((minAvailable) => ({ spec: { ...NO_LIMITS, minAvailable } })),
  ...LIMITS.map((maxUnavailable) => ({ spec: { ...NO_LIMITS, maxUnavailable } })),
  { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
  { metadata: { labels: { stage: "test" } } },
];

interface Budget extends KubeObject {
  readonly spec: { readonly selector?: { readonly matchLabels?: JsonObject } };
  readonly status?: JsonObject;
}

/** Labels that no other budget selects: of several budgets for a Pod, the real controller updates any one. */
function freeLabels(world: World, name: string): JsonObject {
  const labels = randomLabels(world);
  const isTaken = (world.view.of(COLLECTION.kind) as Budget[]).some(
    ({ spec, metadata }) => metadata.name !== name && isDeepStrictEqual(spec.selector?.matchLabels, labels),
  );
  return isTaken || labels.app === undefined || labels.tier !== undefined ? { app: `none-${name}` } : labels;
}

/** PodDisruptionBudgets. */
export const DISRUPTION_BUDGETS: WorkloadKind<Budget> = {
  collection: COLLECTION,
  isDependent: true,
  controllers: ["disruption-controller"],
  components: ["controllermanager"],
  // With `--both-real`, a budget whose only Pod was replaced got NoPods at random: two of three runs of a sequence differed.
  eventRules: { NoPods: "ignored", UnmanagedPods: "presence", CalculateExpectedPodCountFailed: "ignored" },
  create: (world, name) => {
    const { random } = world;
    const limit = random.pick(LIMITS);
    const selector = { matchLabels: freeLabels(world, name) };
    return { spec: { selector, ...(random.chance(0.5) ? { minAvailable: limit } : { maxUnavailable: limit }) } };
  },
  actions: [
    changeAction(COLLECTION, 5, CHANGES),
    {
      weight: 2,
      plan: (world, target) =>
        mergeStep(world, "select", COLLECTION, target, {
          spec: { selector: { matchLabels: { tier: null, ...freeLabels(world, target.metadata.name ?? "") } } },
        }),
    },
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
  ],
  isSettled: isObserved,
};
