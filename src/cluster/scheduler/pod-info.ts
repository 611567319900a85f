import { hasPodLevelRequests, podAmountsInUse } from "../../access/admission/plugins/pod-resources.ts";
import { parseQuantity, type Quantity } from "../../base/api/quantity.ts";
import type { Amounts } from "../../base/api/resource-amounts.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { type HostPort, hostPortsOf } from "../controllers/shared/host-ports.ts";
import { type ResourceTotals, totalsOf } from "./resource-totals.ts";

/** A Pod and what the scheduler derives from it once. */
export interface PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  readonly requests: ResourceTotals;
  /** Requests with a minimum of cpu and memory per container, so that Pods without requests are spread too. */
  readonly minimum: ResourceTotals;
  readonly ports: readonly HostPort[];
  /** Keys of PersistentVolumeClaims, `namespace/name`, without those of ephemeral volumes. */
  readonly claims: readonly string[];
  /** Whether it has affinity or anti-affinity to other Pods. */
  readonly hasAffinity: boolean;
  readonly hasRequiredAntiAffinity: boolean;
}

/** Assumed for containers without requests. Upstream: DefaultMilliCPURequest and DefaultMemoryRequest */
export const MISSING_REQUESTS: Amounts = new Map([
  ["cpu", parseQuantity("100m")],
  ["memory", parseQuantity("200Mi")],
]);

const known = new WeakMap<Pod, PodInfo>();

/** The derived values of a Pod. Computed once per version of the Pod. */
export function podInfoOf(pod: Pod): PodInfo {
  let info = known.get(pod);
  if (info === undefined) {
    info = derive(pod);
    known.set(pod, info);
  }
  return info;
}

function derive(pod: Pod): PodInfo {
  const { spec = {}, metadata } = pod;
  const { uid = "", namespace = "", name = "" } = metadata;
  const requested = podAmountsInUse(pod, "requests");
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return {
    ...{ pod, uid, namespace, name },
    priority: spec.priority ?? 0,
    requests: totalsOf(requested),
    minimum: totalsOf(minimumOf(pod, requested)),
    ports: hostPortsOf(spec),
    claims: claimsOf(pod),
    hasAffinity: podAffinity !== undefined || podAntiAffinity !== undefined,
    hasRequiredAntiAffinity: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0,
  };
}

/** Upstream: getNonMissingContainerRequests */
function minimumOf(pod: Pod, requested: Amounts): Map<string, Quantity> {
  const isKept = (name: string) => !hasPodLevelRequests(pod.spec ?? {}) || !requested.has(name);
  const missing = new Map([...MISSING_REQUESTS].filter(([name]) => isKept(name)));
  return podAmountsInUse(pod, "requests", { missing });
}

/** Upstream: PodPVCKeys */
function claimsOf({ spec = {}, metadata }: Pod): string[] {
  const claims: string[] = [];
  for (const { persistentVolumeClaim } of spec.volumes ?? []) {
    if (persistentVolumeClaim) claims.push(`${metadata.namespace}/${persistentVolumeClaim.claimName}`);
  }
  return claims;
}

/** The Pod as it will be once it is bound. */
export function onNode({ pod, ...info }: PodInfo, nodeName: string): PodInfo {
  const bound: Pod = { ...pod, spec: { ...pod.spec, nodeName } };
  const boundInfo = { ...info, pod: bound };
  known.set(bound, boundInfo);
  return boundInfo;
}
