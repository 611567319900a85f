import type { JsonObject } from "../../base/api/object.ts";
import type { Node, NodeAddress, NodeCondition } from "../../kinds/types/node.ts";
import { release } from "../../serving/endpoints/release.ts";

/** Nodes with this annotation are simulated by this server. */
export const SIMULATED_NODE = "simulated.binnacle.dev/node";
/** KWOK simulates nodes with the value `fake`. */
const KWOK_NODE = "kwok.x-k8s.io/node";

/** Whether this server acts as the kubelet of a node. */
export function isSimulatedNode({ metadata: { annotations = {} } }: Node): boolean {
  return annotations[SIMULATED_NODE] === "true" || annotations[KWOK_NODE] === "fake";
}

/** Nothing listens there: this server answers for the kubelet itself. */
export const KUBELET_PORT = 10250;

const ARCHITECTURE = "amd64";
const OS = "linux";

/** The labels that a kubelet sets. */
export function nodeLabels(name: string): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": ARCHITECTURE,
    "beta.kubernetes.io/os": OS,
    "kubernetes.io/arch": ARCHITECTURE,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": OS,
  };
}

/** A node before its kubelet has posted a status. */
export function newNode(name: string): Node {
  const annotations = { [SIMULATED_NODE]: "true", "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
  return { kind: "Node", apiVersion: "v1", metadata: { name, labels: nodeLabels(name), annotations } };
}

/** The types, reasons and messages of a healthy node's conditions, in the order of a kubelet. */
const CONDITIONS: readonly [type: string, status: string, reason: string, message: string][] = [
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
];

/** The conditions that a kubelet posts. A condition that has not changed keeps its transition time. */
export function nodeConditions({ status: { conditions: before = [] } = {} }: Node, now: string): NodeCondition[] {
  return CONDITIONS.map(([type, status, reason, message]) => {
    const known = before.find((condition) => condition.type === type);
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
    return { type, status, lastHeartbeatTime: now, lastTransitionTime, reason, message };
  });
}

/** Whether the node has the conditions of a healthy kubelet. */
export function isReported({ status: { conditions = [], addresses = [] } = {} }: Node): boolean {
  const has = ([type, status]: (typeof CONDITIONS)[number]) =>
    conditions.some((condition) => condition.type === type && condition.status === status);
  return addresses.length > 0 && CONDITIONS.every(has);
}

/** The complete status that a kubelet posts when it registers. Resources that the Node already has stay. */
export function nodeStatus(
  node: Node,
  capacity: Readonly<Record<string, string>>,
  address: string,
  now: string,
): JsonObject {
  const { name = "" } = node.metadata;
  const { status: { capacity: ownCapacity = capacity, allocatable = ownCapacity } = {} } = node;
  const addresses: NodeAddress[] = [
    { type: "InternalIP", address },
    { type: "Hostname", address: name },
  ];
  return {
    addresses,
    capacity: { ...ownCapacity },
    allocatable: { ...allocatable },
    conditions: nodeConditions(node, now),
    declaredFeatures: ["RestartAllContainersOnContainerExits"],
    daemonEndpoints: { kubeletEndpoint: { Port: KUBELET_PORT } },
    nodeInfo: {
      architecture: ARCHITECTURE,
      bootID: node.metadata.uid ?? "",
      containerRuntimeVersion: `simulated://${release.version}`,
      kernelVersion: "simulated",
      kubeProxyVersion: "",
      kubeletVersion: release.info.gitVersion,
      machineID: (node.metadata.uid ?? "").replaceAll("-", ""),
      operatingSystem: OS,
      osImage: "Binnacle simulated node",
      systemUUID: node.metadata.uid ?? "",
    },
  };
}

/** The InternalIP of a node. Undefined before it has one. */
export function internalAddress({ status: { addresses = [] } = {} }: Node): string | undefined {
  return addresses.find(({ type }) => type === "InternalIP")?.address;
}
