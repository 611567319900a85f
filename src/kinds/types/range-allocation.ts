import type { KubeObject } from "../../base/api/object.ts";
import { printBits, readBits } from "../../base/util/bit-set.ts";
import { mayHaveNodePorts, needsHealthCheck, nodePortsOf, type ServiceSpec, specOf } from "./service.ts";

/**
 * The range of nodePorts, and the RangeAllocation that records the allocated ones. Compat: key and form of
 * `ranges/servicenodeports` are kube-apiserver's, so that both can allocate on one store.
 */
export const NODE_PORTS = { place: "ranges/servicenodeports", low: 30_000, high: 32_767 } as const;

const RANGE = `${NODE_PORTS.low}-${NODE_PORTS.high}`;

/** The nodePorts that are allocated in a RangeAllocation. */
export function readNodePorts(record: KubeObject | undefined): Set<number> {
  if (typeof record?.data !== "string" || record.range !== RANGE) return new Set();
  return new Set([...readBits(Buffer.from(record.data, "base64"))].map((offset) => offset + NODE_PORTS.low));
}

/** The RangeAllocation for these nodePorts. */
export function printNodePorts(ports: ReadonlySet<number>): KubeObject {
  const bits = printBits(new Set([...ports].map((port) => port - NODE_PORTS.low)));
  const data = Buffer.from(bits).toString("base64");
  return { kind: "RangeAllocation", apiVersion: "v1", metadata: {}, range: RANGE, data };
}

/** The nodePorts that an update no longer uses; all if the Service is deleted. */
export function unusedNodePorts(next: ServiceSpec | undefined, previous: ServiceSpec): number[] {
  const used = next && mayHaveNodePorts(next) ? nodePortsOf(next) : [];
  const unused = nodePortsOf(previous).filter((port) => !used.includes(port));
  const { healthCheckNodePort = 0 } = previous;
  const losesHealth = needsHealthCheck(previous) && !(next && needsHealthCheck(next)) && healthCheckNodePort > 0;
  return losesHealth ? [...unused, healthCheckNodePort] : unused;
}

/** The nodePorts of a Service that are in the range, healthCheckNodePort included. */
export function allocatedNodePorts(service: KubeObject): number[] {
  return unusedNodePorts(undefined, specOf(service)).filter(
    (port) => port >= NODE_PORTS.low && port <= NODE_PORTS.high,
  );
}
