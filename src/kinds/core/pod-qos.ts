import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import { isPodLevelResource } from "../rules/resource-names.ts";
import type { ResourceRequirements } from "./container-types.ts";
import type { PodSpec } from "./pod-types.ts";

/** How sure a pod can be of its resources. */
export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/** The class that follows from what a pod and its containers ask for. */
export function qosClassOf(spec: PodSpec): QosClass {
  const { resources } = spec;
  const ofPod = [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})];
  if (ofPod.some(isPodLevelResource)) return qosOf(resources);
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return combine(containers.map((container) => qosOf(container.resources)));
}

function combine(classes: readonly QosClass[]): QosClass {
  const [first = "BestEffort"] = classes;
  return classes.every((one) => one === first) ? first : "Burstable";
}

function qosOf(requirements: ResourceRequirements | undefined): QosClass {
  return combine(
    ["cpu", "memory"].map((name) => {
      const { requests, limits } = requirements ?? {};
      const request = parseQuantity(requests?.[name] ?? "0");
      if (compareQuantities(request, parseQuantity(limits?.[name] ?? "0")) !== 0) return "Burstable";
      return request.mantissa === 0n ? "BestEffort" : "Guaranteed";
    }),
  );
}
