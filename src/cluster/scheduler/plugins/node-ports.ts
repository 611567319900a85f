import type { Pod } from "../../../kinds/types/workloads.ts";
import { UsedPorts } from "../../controllers/shared/host-ports.ts";
import { type MakePlugin, unschedulable } from "../plugin.ts";
import { podInfoOf } from "../pod-info.ts";

const NAME = "NodePorts";
const IN_USE = unschedulable(NAME, "node(s) didn't have free ports for the requested pod ports");

/** Rejects nodes where a host port of the Pod is in use. */
export const nodePorts: MakePlugin = () => ({
  name: NAME,
  events: [
    { resource: "AssignedPod", actions: ["Delete"], hint: (pod, before) => shareAPort(pod, before as Pod) },
    { resource: "Node", actions: ["Add"] },
  ],
  filter({ ports }) {
    if (ports.length === 0) return undefined;
    return { check: ({ usedPorts }) => (ports.some((port) => usedPorts.has(port)) ? IN_USE : undefined) };
  },
});

function shareAPort(pod: Pod, deleted: Pod): boolean {
  if (!deleted.spec?.nodeName && !deleted.status?.nominatedNodeName) return false;
  const freed = new UsedPorts();
  for (const port of podInfoOf(deleted).ports) freed.add(port);
  return podInfoOf(pod).ports.some((port) => freed.has(port));
}
