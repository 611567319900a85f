import { qualifiedName } from "../../../../base/api/names.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { Quantity } from "../../../../base/api/quantity.ts";
import { type Amounts, countOf, readAmounts } from "../../../../base/api/resource-amounts.ts";
import type { ResourceRequirements } from "../../../../kinds/types/container.ts";
import { type PodAffinityTerm, type PodSpec, podSpecOf } from "../../../../kinds/types/pod.ts";
import { podStatusOf } from "../../../../kinds/types/pod-status.ts";
import { hasPodLevelResources, podAmountsInUse } from "../pod-resources.ts";
import { countName, type Evaluator, isCreate } from "./evaluator.ts";
import { matchesNames, type Scope } from "./quota.ts";

const COUNT = countName("", "pods");
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const HUGE_PAGES = "hugepages-";
const REQUESTS = "requests.";
const LIMITS = "limits.";
/** Prefix of extended resources for a DeviceClass. */
export const DEVICE_CLASS = "deviceclass.resource.kubernetes.io/";

const TRACKED = new Set([
  COUNT,
  "pods",
  ...COMPUTE,
  ...COMPUTE.map((name) => REQUESTS + name),
  ...COMPUTE.map((name) => LIMITS + name),
]);

/**
 * Compat: if `hard` contains one of these, `podEvaluator.Constraints` requires every container to have it in its
 * requests or limits.
 */
const REQUIRED = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** Evaluator of pods: counts pods and their requests and limits, unless they are terminal or past their deletion. */
export function podEvaluator(now: () => number): Evaluator {
  return {
    handles(request) {
      const { operation, subresource, object, previous } = request;
      if (operation !== "UPDATE") return isCreate(request);
      if (subresource === "resize") return true;
      return subresource === "" && object !== undefined && isTerminating(object) !== isTerminating(previous);
    },
    tracks: (name) => TRACKED.has(name) || isHugePages(name) || isExtendedName(name),
    usage: (pod) => podUsage(pod, now()),
    matchesScope: matchesPodScope,
    missing: missingAmounts,
  };
}

const isHugePages = (name: string) => name.startsWith(HUGE_PAGES) || name.startsWith(REQUESTS + HUGE_PAGES);

/** Whether a name in `hard` is `requests.` of an extended resource. */
export function isExtendedName(name: string): boolean {
  return name.startsWith(REQUESTS) && (!isNative(name) || name.startsWith(REQUESTS + DEVICE_CLASS));
}

const isNative = (name: string) => !name.includes("/") || name.includes("kubernetes.io/");

function isExtended(name: string): boolean {
  if (name.startsWith(DEVICE_CLASS)) return true;
  return !isNative(name) && !name.startsWith(REQUESTS) && qualifiedName(REQUESTS + name).length === 0;
}

/** The usage of a pod. A pod that is terminal or past its deletion counts only as an object. */
export function podUsage(pod: KubeObject, now: number): Map<string, Quantity> {
  const usage = new Map([[COUNT, countOf(1)]]);
  if (hasEnded(pod, now)) return usage;
  const computed = computeUsage(podAmountsInUse(pod, "requests"), podAmountsInUse(pod, "limits"));
  for (const [name, amount] of computed) usage.set(name, amount);
  return usage;
}

function hasEnded(pod: KubeObject, now: number): boolean {
  const { phase } = podStatusOf(pod);
  if (phase === "Failed" || phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds: seconds } = pod.metadata;
  if (deletionTimestamp === undefined || seconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + seconds * 1000;
}

function computeUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([["pods", countOf(1)]]);
  for (const [name, amount] of requests) {
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) usage.set(name, amount).set(REQUESTS + name, amount);
    else if (isExtended(name)) usage.set(REQUESTS + name, amount);
  }
  for (const [name, amount] of limits) if (COMPUTE.includes(name)) usage.set(LIMITS + name, amount);
  return usage;
}

function missingAmounts(limited: readonly string[], pod: KubeObject): string | undefined {
  const spec = podSpecOf(pod);
  if (hasPodLevelResources(spec)) return undefined;
  const missing = new Map<string, Set<string>>();
  for (const { name = "", resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const said = computeUsage(readAmounts(resources?.requests), readAmounts(resources?.limits));
    for (const resource of limited) {
      if (!REQUIRED.has(resource) || said.has(resource)) continue;
      missing.set(resource, (missing.get(resource) ?? new Set()).add(name));
    }
  }
  if (missing.size === 0) return undefined;
  const texts = [...missing.keys()]
    .sort()
    .map((name) => `${name} for: ${[...(missing.get(name) ?? [])].sort().join(",")}`);
  return `must specify ${texts.join("; ")}`;
}

function matchesPodScope(scope: Scope, pod: KubeObject): boolean {
  const spec = podSpecOf(pod);
  switch (scope.scopeName) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "PriorityClass":
      return matchesNames(scope, spec.priorityClassName ? [spec.priorityClassName] : []);
    case "CrossNamespacePodAffinity":
      return affinityTerms(spec).some(({ namespaces, namespaceSelector }) => namespaces?.length || namespaceSelector);
    default:
      return false;
  }
}

function isTerminating(pod: KubeObject | undefined): boolean {
  return pod !== undefined && (podSpecOf(pod).activeDeadlineSeconds ?? -1) >= 0;
}

function isBestEffort(pod: KubeObject): boolean {
  const { qosClass } = podStatusOf(pod);
  if (qosClass) return qosClass === "BestEffort";
  const spec = podSpecOf(pod);
  if (hasPodLevelResources(spec)) return asksForNothing(spec.resources);
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].every((one) => asksForNothing(one.resources));
}

function asksForNothing({ requests, limits }: ResourceRequirements = {}): boolean {
  return [readAmounts(requests), readAmounts(limits)].every((amounts) =>
    ["cpu", "memory"].every((name) => (amounts.get(name)?.mantissa ?? 0n) === 0n),
  );
}

function affinityTerms({ affinity }: PodSpec): PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm = {} }) => podAffinityTerm),
  ]);
}
