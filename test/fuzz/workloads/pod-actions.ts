import type { Pod } from "../../../src/kinds/types/workloads.ts";
import { isParallel } from "./stateful-sets.ts";
import { mergeStep, podStep, STRATEGIC, type Step, type World } from "./steps.ts";
import { HOLD } from "./templates.ts";

/** A change of a Pod, a quota or a node of the sequence. */
export interface GeneralAction {
  readonly weight: number;
  plan(world: World): Step | undefined;
}

const isRunning = ({ status, metadata }: Pod) =>
  status?.phase === "Running" && metadata.deletionTimestamp === undefined;
/** Pods of Jobs are complete as soon as they run. */
const mayEnd = (pod: Pod) =>
  isRunning(pod) || (pod.status?.phase === "Pending" && ownerOf(pod) === "Job" && isAny(pod));
const ownerOf = ({ metadata }: Pod) => metadata.ownerReferences?.[0]?.kind;
const isAny = ({ metadata }: Pod) => metadata.deletionTimestamp === undefined;
const isHeld = ({ metadata }: Pod) => metadata.finalizers?.includes(HOLD) === true;
const appOf = ({ metadata }: Pod) => metadata.labels?.app ?? "";
const RELEASED = "released-";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** Controllers prefer Pods with a low cost when they delete some. Without it, the choice depends on times and nodes. */
const costOf = (world: World) => ({ [DELETION_COST]: String(world.nextNumber() - 50) });

const setPhase = (phase: string) => (world: World) =>
  podStep(world, `set phase ${phase} of`, mayEnd, (path) => [
    {
      method: "PATCH",
      path: `${path}/status`,
      type: STRATEGIC,
      body: { status: { phase, conditions: [{ type: "Ready", status: "False" }] } },
    },
  ]);

const setReady = (status: string) => (world: World) =>
  podStep(
    world,
    `set Ready=${status} of`,
    (pod) =>
      isRunning(pod) && pod.status?.conditions?.some((one) => one.type === "Ready" && one.status !== status) === true,
    (path) => [
      {
        method: "PATCH",
        path: `${path}/status`,
        type: STRATEGIC,
        body: {
          status: {
            conditions: [{ type: "Ready", status, lastTransitionTime: new Date().toISOString().replace(/\.\d+/, "") }],
          },
        },
      },
    ],
  );

/** What may happen to Pods, quotas and nodes, whatever their owners are. */
export const GENERAL_ACTIONS: readonly GeneralAction[] = [
  { weight: 3, plan: (world) => podStep(world, "delete", isAny, (path) => [{ method: "DELETE", path }]) },
  {
    weight: 1,
    plan: (world) =>
      podStep(world, "kill", isAny, (path) => [{ method: "DELETE", path, body: { gracePeriodSeconds: 0 } }]),
  },
  { weight: 2, plan: setPhase("Failed") },
  { weight: 1, plan: setPhase("Succeeded") },
  { weight: 2, plan: setReady("False") },
  { weight: 2, plan: setReady("True") },
  {
    weight: 2,
    plan(world) {
      const annotations = costOf(world);
      return podStep(
        world,
        "relabel",
        (pod) => isAny(pod) && !appOf(pod).startsWith(RELEASED) && appOf(pod) !== "",
        (path, pod) => [
          {
            method: "PATCH",
            path,
            type: STRATEGIC,
            body: { metadata: { annotations, labels: { app: `${RELEASED}${appOf(pod)}` } } },
          },
        ],
      );
    },
  },
  {
    weight: 2,
    plan: (world) =>
      podStep(
        world,
        "restore the labels of",
        (pod) => isAny(pod) && appOf(pod).startsWith(RELEASED),
        (path, pod) => [
          {
            method: "PATCH",
            path,
            type: STRATEGIC,
            body: { metadata: { labels: { app: appOf(pod).slice(RELEASED.length) } } },
          },
        ],
      ),
  },
  {
    weight: 1,
    plan(world) {
      const annotations = costOf(world);
      return podStep(world, "set the deletion cost of", isAny, (path) => [
        { method: "PATCH", path, type: STRATEGIC, body: { metadata: { annotations } } },
      ]);
    },
  },
  {
    weight: 1,
    plan: (world) =>
      podStep(
        world,
        "hold",
        (pod) => isRunning(pod) && !isHeld(pod),
        (path) => [
          { method: "PATCH", path, type: STRATEGIC, body: { metadata: { finalizers: [HOLD] } } },
          { method: "DELETE", path },
        ],
      ),
  },
  {
    weight: 2,
    plan: (world) =>
      podStep(world, "let go", isHeld, (path) => [
        {
          method: "PATCH",
          path,
          type: STRATEGIC,
          body: { metadata: { "$deleteFromPrimitiveList/finalizers": [HOLD] } },
        },
      ]),
  },
  { weight: 2, plan: createOrphan },
  { weight: 1, plan: changeQuota },
  { weight: 1, plan: cordon },
];

/** A Pod without a controller, with the labels of another Pod. */
function createOrphan(world: World): Step | undefined {
  const apps = [...new Set((world.view.of("Pod") as Pod[]).map(appOf))]
    .filter((app) => app !== "" && !app.startsWith(RELEASED))
    .sort();
  if (apps.length === 0) return undefined;
  const number = world.nextNumber();
  // Its controller deletes it first, whether it is ready by then or not. A Pod without a node precedes even that.
  const annotations = { [DELETION_COST]: String(-1000 - number) };
  const metadata = { name: `orphan-${number}`, labels: { app: world.random.pick(apps) }, annotations };
  const containers = [{ name: "main", image: "orphan" }];
  const spec = { nodeName: world.nodes[0], automountServiceAccountToken: false, containers };
  const path = `/api/v1/namespaces/${world.namespace}/pods`;
  return {
    title: `create Pod ${JSON.stringify(metadata)}`,
    requests: () => [{ method: "POST", path, body: { metadata, spec } }],
  };
}

const QUOTAS = { kind: "ResourceQuota", root: "/api/v1", plural: "resourcequotas" };

/** Creates a quota, or deletes the one that there is. */
function changeQuota(world: World): Step | undefined {
  if (world.view.of("StatefulSet").some(isParallel)) return undefined;
  const path = `/api/v1/namespaces/${world.namespace}/resourcequotas`;
  const [quota] = world.view.of(QUOTAS.kind);
  if (quota && world.random.chance(0.6))
    return { title: "delete the quota", requests: () => [{ method: "DELETE", path: `${path}/quota` }] };
  const hard = { pods: String(world.random.below(8)) };
  if (quota) return mergeStep(world, "set", QUOTAS, quota, { spec: { hard } });
  return {
    title: `create a quota ${JSON.stringify(hard)}`,
    requests: () => [{ method: "POST", path, body: { metadata: { name: "quota" }, spec: { hard } } }],
  };
}

/** Cordons or uncordons all nodes of the sequence. */
function cordon(world: World): Step {
  const unschedulable = world.random.chance(0.5);
  const type = "application/merge-patch+json";
  const body = { spec: { unschedulable } };
  return {
    title: unschedulable ? "cordon the nodes" : "uncordon the nodes",
    requests: ({ view }) => {
      view.isCordoned = unschedulable;
      return world.nodes.map((node) => ({ method: "PATCH", path: `/api/v1/nodes/${node}`, type, body }));
    },
  };
}
