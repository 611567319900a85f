import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";
import { randomNode } from "./shapes.ts";

/** A request that changes the cluster. */
export interface Change {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
}

const NODES = "/api/v1/nodes";
const PODS = "/api/v1/namespaces/default/pods";

const MERGE = { "content-type": "application/merge-patch+json" };

/** Headers of a request that changes the cluster. */
export const headersOf = ({ method }: Change): Record<string, string> => (method === "PATCH" ? MERGE : {});

/** Creates a random node. */
export function newNode(random: Random, name: string): Change[] {
  const node = randomNode(random, name);
  const { taints = [] } = node.spec as JsonObject;
  // Admission adds a taint to new nodes, because they are not ready.
  const untaint = { method: "PATCH", path: `${NODES}/${name}`, body: { spec: { taints } } };
  return [{ method: "POST", path: NODES, body: node }, untaint];
}

/** A random change of a node, of the waiting Pod or of another one. `fresh`: the name of a node that does not exist. */
export function randomChange(
  random: Random,
  waiting: string,
  running: readonly string[],
  nodes: readonly string[],
  fresh: string,
): Change[] {
  if (random.chance(0.1)) return newNode(random, fresh);
  const node = `${NODES}/${random.pick(nodes)}`;
  const patch = (path: string, body: JsonObject): Change => ({ method: "PATCH", path, body });
  const changes: (() => Change)[] = [
    () => patch(node, { spec: { taints: [] } }),
    () => patch(node, { spec: { unschedulable: random.chance(0.3) } }),
    () => patch(node, { metadata: { labels: { disk: random.pick(["ssd", "hdd"]) } } }),
    () => patch(node, { metadata: { labels: { rank: String(random.below(5)) } } }),
    () => patch(node, { metadata: { annotations: { note: String(random.below(100)) } } }),
    () => patch(node, { metadata: { labels: { "topology.kubernetes.io/zone": random.pick(["z1", "z2", null]) } } }),
    () => patch(`${node}/status`, { status: { allocatable: randomAllocatable(random) } }),
    () => patch(`${PODS}/${waiting}`, { metadata: { labels: { changed: String(random.below(100)) } } }),
    () => patch(`${PODS}/${waiting}`, { metadata: { annotations: { changed: String(random.below(100)) } } }),
    () => ({ method: "DELETE", path: node, body: {} }),
  ];
  if (running.length > 0) {
    const other = `${PODS}/${random.pick(running)}`;
    changes.push(
      () => ({ method: "DELETE", path: other, body: { gracePeriodSeconds: 0 } }),
      () => patch(other, { metadata: { labels: { app: random.pick(["web", "db", "cache"]) } } }),
      () => patch(other, { metadata: { labels: { changed: String(random.below(100)) } } }),
    );
  }
  return [random.pick(changes)()];
}

function randomAllocatable(random: Random): JsonObject {
  return random.pick<JsonObject>([
    { cpu: random.pick(["2", "6", "9"]) },
    { memory: random.pick(["3Gi", "20Gi"]) },
    { pods: random.pick(["3", "20"]) },
    { "example.com/gpu": random.pick(["1", "8"]) },
  ]);
}
