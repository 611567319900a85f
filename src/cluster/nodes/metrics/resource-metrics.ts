import { notFound } from "../../../base/api/api-error.ts";
import type { KubeObject, ObjectMeta } from "../../../base/api/object.ts";
import { printQuantity, type QuantityFormat } from "../../../base/api/quantity.ts";
import type { MetricsActions } from "../../../kinds/built-in/actions/all.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ComputeAction } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { pacer } from "../../../resources/pace.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { isSimulatedNode } from "../node-object.ts";
import { containerStatuses, isRunning, podContainers } from "../pods/containers.ts";
import type { ContainerUsages, UsageAmounts } from "./container-usage.ts";

const GROUP = "metrics.k8s.io";
const VERSION = `${GROUP}/v1beta1`;
/** As if metrics-server had read the usage just now and 15 seconds before, its default interval. */
const WINDOW = "15s";

/** Computes NodeMetrics and PodMetrics of simulated nodes as metrics-server serves them. */
export function resourceMetrics(usages: ContainerUsages): MetricsActions {
  const podMetrics: ComputeAction = async (access, { namespace, name, selects }) => {
    const pods = (await podsOf(access, namespace, name)).filter(selects);
    const nodes = await simulatedNodes(access);
    const pause = pacer();
    const found: KubeObject[] = [];
    for (const pod of pods) {
      const node = nodes.get(pod.spec?.nodeName ?? "");
      const containers = node && usages.ofPod(node, pod, runningContainers(pod));
      if (containers?.size) found.push(podMetricsOf(access, pod, containers));
      await pause();
    }
    if (name !== "" && namespace !== "" && found.length === 0) {
      // Compat: `podMetrics.Get` of metrics-server says whether the Pod does not exist or has no metrics yet.
      if (pods.length === 0) throw notFound({ group: "", resource: "pods" }, name);
      throw notFound({ group: GROUP, resource: "podmetrics" }, `${namespace}/${name}`);
    }
    return found;
  };
  const nodeMetrics: ComputeAction = async (access, { name, selects }) => {
    const all = await simulatedNodes(access);
    const nodes = [...all.values()].filter(selects);
    if (name !== "" && nodes.length === 0) throw await missingNode(access, name);
    const totals = await nodeTotals(access, usages, new Map(nodes.map((node) => [node.metadata.name ?? "", node])));
    return nodes.map((node) => {
      const { name: nodeName = "", labels } = node.metadata;
      const usage = printUsage(totals.get(nodeName) ?? { cpu: 0n, memory: 0n });
      return { kind: "NodeMetrics", apiVersion: VERSION, ...sampleOf(access, { name: nodeName, labels }), usage };
    });
  };
  return { podMetrics, nodeMetrics };
}

async function podsOf(access: ObjectAccess, namespace: string, name: string): Promise<readonly Pod[]> {
  if (name === "" || namespace === "") return (await access.list("", "pods", namespace, "any")) as Pod[];
  const pod = await access.find("", "pods", { namespace, name }, "any");
  return pod ? [pod as Pod] : [];
}

async function simulatedNodes(access: ObjectAccess): Promise<Map<string, Node>> {
  const nodes = (await access.list("", "nodes", "", "any")) as Node[];
  return new Map(nodes.filter(isSimulatedNode).map((node) => [node.metadata.name ?? "", node]));
}

async function missingNode(access: ObjectAccess, name: string): Promise<Error> {
  const node = await access.find("", "nodes", { namespace: "", name }, "any");
  return notFound(node ? { group: GROUP, resource: "nodemetrics" } : { group: "", resource: "node" }, name);
}

function runningContainers(pod: Pod): ReturnType<typeof podContainers> {
  const statuses = containerStatuses(pod);
  return podContainers(pod).filter(({ name }) => isRunning(statuses.get(name)));
}

/** What the containers on each node use together. */
async function nodeTotals(
  access: ObjectAccess,
  usages: ContainerUsages,
  nodes: ReadonlyMap<string, Node>,
): Promise<Map<string, UsageAmounts>> {
  const totals = new Map<string, UsageAmounts>();
  const pause = pacer();
  for (const pod of await podsOf(access, "", "")) {
    const { nodeName = "" } = pod.spec ?? {};
    const node = nodes.get(nodeName);
    if (node === undefined) continue;
    for (const { cpu, memory } of usages.ofPod(node, pod, runningContainers(pod))?.values() ?? []) {
      const before = totals.get(nodeName) ?? { cpu: 0n, memory: 0n };
      totals.set(nodeName, { cpu: before.cpu + cpu, memory: before.memory + memory });
    }
    await pause();
  }
  return totals;
}

function podMetricsOf(access: ObjectAccess, pod: Pod, usage: ReadonlyMap<string, UsageAmounts>): KubeObject {
  const { name, namespace, labels } = pod.metadata;
  const containers = [...usage].map(([container, amounts]) => ({ name: container, usage: printUsage(amounts) }));
  return { kind: "PodMetrics", apiVersion: VERSION, ...sampleOf(access, { name, namespace, labels }), containers };
}

/** Compat: `podStorage.GetMetrics` of metrics-server sets `CreationTimestamp` to the time of the request. */
function sampleOf({ clock }: ObjectAccess, { labels, ...names }: ObjectMeta) {
  const now = printTime(clock.now());
  const metadata: ObjectMeta = { ...names, creationTimestamp: now, ...(labels && { labels }) };
  return { metadata, timestamp: now, window: WINDOW };
}

function printUsage({ cpu, memory }: UsageAmounts): { cpu: string; memory: string } {
  const print = (mantissa: bigint, exponent: number, format: QuantityFormat) =>
    printQuantity({ mantissa, exponent, format });
  return { cpu: print(cpu, -9, "DecimalSI"), memory: print(memory, 0, "BinarySI") };
}
