import type { Node, Taint } from "../../../src/kinds/types/node.ts";
import type { NamespaceView } from "./cluster-view.ts";
import { asEvent } from "./event-objects.ts";
import { type Action, type Request, STRATEGIC, type Step, type WorkloadKind, type World } from "./steps.ts";
import { NODE_LABEL } from "./templates.ts";

const COLLECTION = { kind: "Node", root: "/api/v1", plural: "nodes", isClusterScoped: true };
/** KWOK renews no Lease of a node with this label, and runs none of its Pods. */
export const SILENT = "fuzz.example.com/silent";
const CAPACITY = { cpu: "32", memory: "256Gi", pods: "110" };
const MERGE = "application/merge-patch+json";

const TAINTS: readonly Taint[] = [
  { key: "team", value: "a", effect: "NoExecute" },
  { key: "team", value: "b", effect: "NoExecute" },
  { key: "rack", effect: "NoExecute" },
  { key: "rack", effect: "NoSchedule" },
];

const tolerating = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const UNREACHABLE = "node.kubernetes.io/unreachable";
const TOLERATIONS: readonly object[][] = [
  [],
  [{ operator: "Exists" }],
  [tolerating("team")],
  [tolerating("team", 0)],
  [tolerating("team", 2), tolerating(UNREACHABLE, 1)],
  [tolerating("team", 4), tolerating("rack", 2), tolerating(UNREACHABLE)],
  [{ key: "team", operator: "Equal", value: "a", effect: "NoExecute", tolerationSeconds: 3 }],
];
const CONDITIONS = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

const now = () => new Date().toISOString().replace(/\.\d+/, "");
const pathOfNode = ({ metadata }: Node) => `/api/v1/nodes/${metadata.name}`;

/** A step with one request, whose body may depend on the node in the cluster. */
function nodeStep(title: string, node: Node, requestFor: (current: Node) => Omit<Request, "path">, part = ""): Step {
  const { name = "" } = node.metadata;
  return {
    title: `${title} Node ${name}`,
    requests: ({ view }) => {
      const current = view.get("Node", name) as Node | undefined;
      return current ? [{ path: `${pathOfNode(node)}${part}`, ...requestFor(current) }] : [];
    },
  };
}

function taint(world: World, node: Node): Step {
  const added = world.random.pick(TAINTS);
  return nodeStep(`taint with ${JSON.stringify(added)}`, node, ({ spec }) => {
    const others = (spec?.taints ?? []).filter(({ key, effect }) => key !== added.key || effect !== added.effect);
    return { method: "PATCH", type: MERGE, body: { spec: { taints: [...others, added] } } };
  });
}

function untaint(world: World, node: Node): Step | undefined {
  const { key } = world.random.pick(TAINTS);
  if (!node.spec?.taints?.some((one) => one.key === key)) return undefined;
  return nodeStep(`remove the taint ${key} from`, node, ({ spec }) => {
    const others = (spec?.taints ?? []).filter((one) => one.key !== key);
    return { method: "PATCH", type: MERGE, body: { spec: { taints: others } } };
  });
}

function cordon(world: World, node: Node): Step {
  const unschedulable = world.random.chance(0.6);
  const body = { spec: { unschedulable } };
  return nodeStep(unschedulable ? "cordon" : "uncordon", node, () => ({ method: "PATCH", type: MERGE, body }));
}

function setCondition(world: World, node: Node): Step {
  const type = world.random.pick(CONDITIONS);
  const status = world.random.pick(["True", "True", "False"]);
  const condition = { type, status, reason: "Fuzz", lastHeartbeatTime: now(), lastTransitionTime: now() };
  const request = { method: "PATCH", type: STRATEGIC, body: { status: { conditions: [condition] } } };
  return nodeStep(`set ${type}=${status} of`, node, () => request, "/status");
}

/** A Pod without a controller on the node. */
function addPod(world: World, node: Node): Step {
  const { name: nodeName = "" } = node.metadata;
  const name = `bare-${world.nextNumber()}`;
  const tolerations = world.random.pick(TOLERATIONS);
  const containers = [{ name: "main", image: "web:1" }];
  const spec = { nodeName, tolerations, automountServiceAccountToken: false, containers };
  const path = `/api/v1/namespaces/${world.namespace}/pods`;
  const requests: Request[] = [{ method: "POST", path, body: { metadata: { name }, spec } }];
  const isReady = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  // If the node has failed, the controller and this request race.
  if (node.metadata.labels?.[SILENT] !== undefined && isReady) {
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: now() }];
    const body = { status: { phase: "Running", conditions } };
    requests.push({ method: "PATCH", path: `${path}/${name}/status`, type: STRATEGIC, body });
  }
  return { title: `create Pod ${name} on Node ${nodeName} ${JSON.stringify(tolerations)}`, requests: () => requests };
}

/** Lets a node leave. Its Pods stay without a kubelet. */
const leave = (_: World, node: Node): Step => nodeStep("delete", node, () => ({ method: "DELETE" }));

const action = (weight: number, plan: Action<Node>["plan"]): Action<Node> => ({ weight, plan });

/** Whether the controller knows the node. It looks every five seconds. */
function isRegistered({ metadata }: Node, view: NamespaceView): boolean {
  const events = view.of("Event").map(asEvent);
  return events.some(
    ({ reason, involvedObject }) => reason === "RegisteredNode" && involvedObject.name === metadata.name,
  );
}

/** Nodes that join and leave. They have their own Pods, so that no other kind depends on them. */
export const NODES: WorkloadKind<Node> = {
  collection: COLLECTION,
  controllers: [
    ...["node-lifecycle-controller", "taint-eviction-controller"],
    ...["pod-garbage-collector-controller", "ttl-controller"],
  ],
  components: ["node-controller", "taint-eviction-controller"],
  create: ({ random }, name) => {
    const isSilent = random.chance(0.25);
    const zone = { "topology.kubernetes.io/zone": name };
    const labels = { [NODE_LABEL]: "none", "kubernetes.io/os": "linux", ...(isSilent && { ...zone, [SILENT]: "" }) };
    const ready = { type: "Ready", status: "True", lastHeartbeatTime: now(), lastTransitionTime: now() };
    const conditions = isSilent && random.chance(0.7) ? { conditions: [ready] } : {};
    return { metadata: { labels }, spec: {}, status: { allocatable: CAPACITY, ...conditions } };
  },
  isTarget: ({ metadata }) => metadata.labels?.[NODE_LABEL] === "none",
  actions: [
    ...[action(5, addPod), action(4, taint), action(3, untaint), action(1, cordon), action(1, setCondition)],
    action(0.7, leave),
  ],
  isSettled: (node, view) => {
    if (!isRegistered(node, view)) return false;
    const status = node.status?.conditions?.find(({ type }) => type === "Ready")?.status;
    const isTainted = node.spec?.taints?.some(({ key, effect }) => key === UNREACHABLE && effect === "NoExecute");
    return node.metadata.labels?.[SILENT] === undefined
      ? status === "True"
      : status === "Unknown" && isTainted === true;
  },
};
