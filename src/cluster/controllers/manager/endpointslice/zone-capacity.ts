import { parseQuantity } from "../../../../base/api/quantity.ts";
import { roundUp } from "../../../../base/api/resource-amounts.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { ZONE } from "./pod-endpoint.ts";

/** The most that an endpoint may be overloaded. Upstream: overloadThreshold */
const OVERLOAD = 0.2;
const CONTROL_PLANE = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/** How many endpoints a zone should get. */
export interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

/** Whether the condition Ready of a Node is true. */
export function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

/** The share of the CPUs by zone. Undefined if a Node does not tell, or if there is only one zone. Upstream: SetNodes */
export function zoneShares(nodes: Iterable<Node>): Map<string, number> | undefined {
  const byZone = new Map<string, bigint>();
  for (const node of nodes) {
    const { labels = {} } = node.metadata;
    if (CONTROL_PLANE.some((label) => Object.hasOwn(labels, label)) || !isNodeReady(node)) continue;
    const zone = labels[ZONE] ?? "";
    const cpu = roundUp(parseQuantity(node.status?.allocatable?.cpu ?? "0"), 3);
    if (zone === "" || cpu === 0n) return undefined;
    byZone.set(zone, (byZone.get(zone) ?? 0n) + cpu);
  }
  const total = Number([...byZone.values()].reduce((sum, cpu) => sum + cpu, 0n));
  if (byZone.size < 2) return undefined;
  return new Map([...byZone].map(([zone, cpu]) => [zone, Number(cpu) / total]));
}

/** How many of the endpoints each zone should get. A text says why that is impossible. Upstream: getAllocations */
export function allocate(
  shares: ReadonlyMap<string, number> | undefined,
  count: number,
): Map<string, Allocation> | string {
  if (shares === undefined) {
    return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
  }
  const counts = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return `Insufficient number of endpoints ${counts}`;
  const minimums = new Map([...shares].map(([zone, share]) => [zone, minimumOf(share * count)]));
  const spare = count - [...minimums.values()].reduce((sum, minimum) => sum + minimum, 0);
  if (spare < 0) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
  }
  return new Map(
    [...shares].map(([zone, share]) => {
      const minimum = minimums.get(zone) ?? 0;
      return [zone, { minimum, maximum: minimum + spare, desired: Math.max(share * count, minimum) }];
    }),
  );
}

/** Whether a zone has too few endpoints. Upstream: serviceOverloaded */
export function isOverloaded(
  byZone: ReadonlyMap<string, number>,
  shares: ReadonlyMap<string, number> | undefined,
): boolean {
  if (byZone.size === 0) return false;
  if (shares === undefined) return true;
  const total = [...byZone.values()].reduce((sum, count) => sum + count, 0);
  return [...shares].some(([zone, share]) => (byZone.get(zone) ?? -1) < minimumOf(total * share));
}

const minimumOf = (desired: number) => Math.ceil(desired * (1 / (1 + OVERLOAD)));
