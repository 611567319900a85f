import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";
import { randomNeighbours } from "./neighbours.ts";
import { SCHEDULER_NAMES } from "./profiles.ts";

const ZONES = ["z1", "z2", "z3"];
const DISKS = ["ssd", "hdd"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const IMAGES = ["app/small:1", "app/large:1", "app/huge:2"];
const SIZES = [30, 400, 3000].map((mib) => mib * 1024 * 1024);
const KEYS = ["dedicated", "spot"];

/** Priorities of Pods. A PriorityClass `pN` exists for each. */
export const PRIORITIES: readonly number[] = [0, 1, 2, 5, 1000];

/** Its Pods need resources besides those of their containers. */
export const RUNTIME_CLASS = "heavy";

/** A random node. */
export function randomNode(random: Random, name: string): JsonObject {
  const labels: JsonObject = { "kubernetes.io/hostname": name, disk: random.pick(DISKS) };
  if (random.chance(0.8)) labels["topology.kubernetes.io/zone"] = random.pick(ZONES);
  if (random.chance(0.3)) labels.rank = String(random.below(5));
  const allocatable: JsonObject = {
    cpu: random.pick(["1", "2", "4", "3500m", "8"]),
    memory: random.pick(["1Gi", "2Gi", "4Gi", "7900Mi", "16Gi"]),
    pods: String(2 + random.below(8)),
    "ephemeral-storage": "10Gi",
  };
  if (random.chance(0.3)) allocatable["example.com/gpu"] = String(1 + random.below(4));
  if (random.chance(0.3)) allocatable["hugepages-2Mi"] = random.pick(["4Mi", "8Mi"]);
  return {
    metadata: { name, labels },
    spec: {
      taints: random.chance(0.4) ? [randomTaint(random)] : [],
      ...(random.chance(0.1) && { unschedulable: true }),
    },
    status: { allocatable, capacity: allocatable, images: randomImages(random) },
  };
}

function randomTaint(random: Random): JsonObject {
  return { key: random.pick(KEYS), value: random.pick(["a", "b"]), effect: random.pick(EFFECTS) };
}

function randomImages(random: Random): JsonObject[] {
  return IMAGES.flatMap((image, index) =>
    random.chance(0.4) ? [{ names: [image], sizeBytes: SIZES[index] ?? 0 }] : [],
  );
}

/** The spec of a random Pod. `number` makes it unlike all others, so that the real scheduler reuses no results. */
export function randomPod(random: Random, number: number, nodes: readonly string[]): JsonObject {
  const containers = Array.from({ length: 1 + random.below(2) }, (_, index) => randomContainer(random, index));
  const nodeAffinity = randomNodeAffinity(random, nodes);
  const { constraints, affinity } = randomNeighbours(random);
  const priority = random.pick(PRIORITIES);
  return {
    containers,
    initContainers: [
      {
        ...{ name: "init", image: `init/unique:${number}` },
        ...(random.chance(0.2) && resources(random)),
        ...(random.chance(0.2) && { restartPolicy: "Always" }),
      },
    ],
    priorityClassName: `p${priority}`,
    ...(random.chance(0.1) && { preemptionPolicy: "Never" }),
    ...(random.chance(0.3) && { tolerations: randomTolerations(random) }),
    ...(random.chance(0.2) && { nodeSelector: { disk: random.pick(DISKS) } }),
    affinity: { ...affinity, ...(nodeAffinity && { nodeAffinity }) },
    ...(constraints && { topologySpreadConstraints: constraints }),
    ...(random.chance(0.1) && { resources: { requests: { cpu: random.pick(["1500m", "2"]), memory: "700Mi" } } }),
    ...(random.chance(0.1) && { schedulingGates: [{ name: "example.com/gate" }] }),
    ...(random.chance(0.1) && { runtimeClassName: RUNTIME_CLASS }),
    schedulerName: random.chance(0.6) ? SCHEDULER_NAMES[0] : random.pick(SCHEDULER_NAMES),
  };
}

/** The spec of a Pod that needs only resources. */
export function plainPod(random: Random, number: number): JsonObject {
  const requests = { cpu: random.pick(["400m", "900m", "1500m"]), memory: random.pick(["128Mi", "700Mi", "1Gi"]) };
  return {
    containers: [{ name: "c0", image: `app/unique:${number}`, resources: { requests } }],
    priorityClassName: `p${random.pick(PRIORITIES)}`,
    tolerations: [{ operator: "Exists" }],
  };
}

function randomContainer(random: Random, index: number): JsonObject {
  return {
    name: `c${index}`,
    image: random.chance(0.6) ? random.pick(IMAGES) : "other",
    ...(random.chance(0.8) && resources(random)),
    ...(random.chance(0.2) && { ports: [randomPort(random)] }),
  };
}

function resources(random: Random): JsonObject {
  const requests: JsonObject = {};
  if (random.chance(0.8)) requests.cpu = random.pick(["0", "100m", "250m", "333m", "500m", "1", "1500m"]);
  if (random.chance(0.8)) requests.memory = random.pick(["0", "64Mi", "100M", "512Mi", "1Gi", "1500Mi"]);
  if (random.chance(0.1)) requests["ephemeral-storage"] = random.pick(["1Gi", "6Gi"]);
  const limits: JsonObject = {};
  if (random.chance(0.15)) {
    const count = String(1 + random.below(2));
    requests["example.com/gpu"] = count;
    limits["example.com/gpu"] = count;
  }
  if (random.chance(0.05)) {
    const pages = { "hugepages-2Mi": random.pick(["2Mi", "6Mi"]) };
    Object.assign(requests, { cpu: "100m" }, pages);
    Object.assign(limits, pages);
  }
  return { resources: { requests, limits } };
}

function randomPort(random: Random): JsonObject {
  const hostPort = 8000 + random.below(3);
  const hostIP = random.pick(["", "", "10.0.0.1", "10.0.0.2"]);
  return { containerPort: hostPort, hostPort, ...(hostIP !== "" && { hostIP }), protocol: random.pick(["TCP", "UDP"]) };
}

function randomTolerations(random: Random): JsonObject[] {
  return random.some(2, () => {
    const effect = random.pick(["", ...EFFECTS]);
    const rest = effect === "" ? {} : { effect };
    if (random.chance(0.3)) return { operator: "Exists", ...rest };
    if (random.chance(0.4)) return { key: random.pick(KEYS), operator: "Exists", ...rest };
    return { key: random.pick(KEYS), operator: "Equal", value: random.pick(["a", "b"]), ...rest };
  });
}

function randomNodeAffinity(random: Random, nodes: readonly string[]): JsonObject | undefined {
  if (!random.chance(0.35)) return undefined;
  const affinity: JsonObject = {};
  if (random.chance(0.5)) {
    const nodeSelectorTerms = Array.from({ length: 1 + random.below(2) }, () => randomTerm(random, nodes));
    affinity.requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  }
  if (random.chance(0.7)) {
    affinity.preferredDuringSchedulingIgnoredDuringExecution = random.some(3, () => ({
      weight: 1 + random.below(100),
      preference: randomTerm(random, nodes),
    }));
  }
  return affinity;
}

function randomTerm(random: Random, nodes: readonly string[]): JsonObject {
  if (random.chance(0.2)) {
    return { matchFields: [{ key: "metadata.name", operator: "In", values: [random.pick([...nodes, "absent"])] }] };
  }
  return { matchExpressions: Array.from({ length: 1 + random.below(2) }, () => randomExpression(random)) };
}

function randomExpression(random: Random): JsonObject {
  const zone = "topology.kubernetes.io/zone";
  switch (random.below(4)) {
    case 0:
      return { key: zone, operator: random.pick(["In", "NotIn"]), values: [random.pick(ZONES), random.pick(ZONES)] };
    case 1:
      return { key: random.pick([zone, "rank"]), operator: random.pick(["Exists", "DoesNotExist"]) };
    case 2:
      return { key: "rank", operator: random.pick(["Gt", "Lt"]), values: [String(random.below(5))] };
    default:
      return { key: "disk", operator: "In", values: [random.pick(DISKS)] };
  }
}
