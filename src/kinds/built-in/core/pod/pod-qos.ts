import { compareQuantities, parseQuantity } from "../../../../base/api/quantity.ts";
import type { ResourceRequirements } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { isPodLevelResource } from "../../shared-rules/resource-names.ts";

/** The QOS class of a pod, `status.qosClass`. */
export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/** The QOS class according to requests and limits. Upstream: `ComputePodQOS`. */
export function qosClassOf(spec: PodSpec): QosClass {
  const { resources } = spec;
  const ofPod = [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})];
  if (ofPod.some(isPodLevelResource)) return qosOf(resources);
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return combine(containers.map((container) => qosOf(container.resources)));
}

/** The resources that determine the QOS class. */
const COUNTED = ["cpu", "memory"];

function combine(classes: readonly QosClass[]): QosClass {
  const [first = "BestEffort"] = classes;
  return classes.every((one) => one === first) ? first : "Burstable";
}

function qosOf(requirements: ResourceRequirements | undefined): QosClass {
  return combine(COUNTED.map((name) => qosIn(requirements?.requests?.[name], requirements?.limits?.[name])));
}

function qosIn(request = "0", limit = "0"): QosClass {
  const needed = parseQuantity(request);
  if (request !== limit && compareQuantities(needed, parseQuantity(limit)) !== 0) return "Burstable";
  return needed.mantissa === 0n ? "BestEffort" : "Guaranteed";
}
