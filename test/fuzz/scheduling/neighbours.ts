import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";

const APPS = ["web", "db", "cache"];
const TOPOLOGY_KEYS = ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk", "rank"];

/** What a random Pod requires and prefers of other Pods: topology spread constraints, affinity and anti-affinity. */
export function randomNeighbours(random: Random): {
  readonly constraints?: JsonObject[];
  readonly affinity: JsonObject;
} {
  const affinity: JsonObject = {};
  if (random.chance(0.2)) affinity.podAffinity = randomAffinity(random);
  if (random.chance(0.25)) affinity.podAntiAffinity = randomAffinity(random);
  if (!random.chance(0.35)) return { affinity };
  const constraints = Array.from({ length: 1 + random.below(2) }, () => randomConstraint(random));
  return { constraints, affinity };
}

function randomAffinity(random: Random): JsonObject {
  const affinity: JsonObject = {};
  if (random.chance(0.5)) {
    const terms = Array.from({ length: random.chance(0.8) ? 1 : 2 }, () => randomTerm(random));
    affinity.requiredDuringSchedulingIgnoredDuringExecution = terms;
  }
  if (random.chance(0.6)) {
    affinity.preferredDuringSchedulingIgnoredDuringExecution = random.some(3, () => ({
      weight: 1 + random.below(100),
      podAffinityTerm: randomTerm(random),
    }));
  }
  return affinity;
}

function randomTerm(random: Random): JsonObject {
  return {
    topologyKey: random.pick(TOPOLOGY_KEYS),
    ...(random.chance(0.95) && { labelSelector: randomSelector(random) }),
    ...(random.chance(0.15) && { namespaces: [random.pick(["default", "elsewhere"])] }),
    ...(random.chance(0.15) && { namespaceSelector: randomNamespaces(random) }),
    ...(random.chance(0.1) && { matchLabelKeys: ["version"] }),
    ...(random.chance(0.05) && { mismatchLabelKeys: ["tier"] }),
  };
}

function randomNamespaces(random: Random): JsonObject {
  const name = random.pick(["default", "elsewhere"]);
  return random.chance(0.4) ? {} : { matchLabels: { "kubernetes.io/metadata.name": name } };
}

function randomConstraint(random: Random): JsonObject {
  const whenUnsatisfiable = random.pick(["DoNotSchedule", "ScheduleAnyway"]);
  return {
    ...{ whenUnsatisfiable, maxSkew: 1 + random.below(3), topologyKey: random.pick(TOPOLOGY_KEYS) },
    ...(random.chance(0.95) && { labelSelector: randomSelector(random) }),
    ...(random.chance(0.2) && whenUnsatisfiable === "DoNotSchedule" && { minDomains: 1 + random.below(4) }),
    ...(random.chance(0.3) && { nodeAffinityPolicy: random.pick(["Honor", "Ignore"]) }),
    ...(random.chance(0.3) && { nodeTaintsPolicy: random.pick(["Honor", "Ignore"]) }),
    ...(random.chance(0.2) && { matchLabelKeys: ["version"] }),
  };
}

function randomSelector(random: Random): JsonObject {
  if (random.chance(0.1)) return {};
  if (random.chance(0.6)) return { matchLabels: { app: random.pick(APPS) } };
  const values = [random.pick(APPS), random.pick(APPS)];
  return { matchExpressions: [{ key: "app", operator: random.pick(["In", "NotIn"]), values }] };
}
