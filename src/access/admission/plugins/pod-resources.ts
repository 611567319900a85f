import type { KubeObject } from "../../../base/api/object.ts";
import { addQuantities, type Quantity } from "../../../base/api/quantity.ts";
import {
  type Amounts,
  addAmounts,
  greatestAmounts,
  NO_AMOUNTS,
  peakAmounts,
  readAmounts,
} from "../../../base/api/resource-amounts.ts";
import { type Container, isSidecar } from "../../../kinds/types/container.ts";
import type { Texts } from "../../../kinds/types/meta.ts";
import { type PodSpec, podSpecOf } from "../../../kinds/types/pod.ts";
import { type ContainerStatus, type PodStatus, podStatusOf } from "../../../kinds/types/pod-status.ts";

/** Requests or limits. */
export type Side = "requests" | "limits";

type AmountsOf = (container: Container) => Texts | undefined;

/**
 * Aggregate requests or limits of all containers, sidecars and init containers. Upstream: `AggregateContainerRequests`.
 */
function containersTogether(spec: PodSpec, amountsOf: AmountsOf, missing = NO_AMOUNTS): Map<string, Quantity> {
  const share = (container: Container) => ({
    amounts: new Map([...missing, ...readAmounts(amountsOf(container))]),
    isLasting: isSidecar(container),
  });
  return peakAmounts((spec.containers ?? []).map(share), (spec.initContainers ?? []).map(share));
}

/** Whether a resource is allowed in pod-level resources (`spec.resources`). */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** Whether a pod has pod-level resources. */
export function hasPodLevelResources({ resources }: PodSpec): boolean {
  return [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})].some(isPodLevelResource);
}

/** Whether a pod has pod-level requests. Upstream: `IsPodLevelRequestsSet`. */
export function hasPodLevelRequests({ resources }: PodSpec): boolean {
  return Object.keys(resources?.requests ?? {}).some(isPodLevelResource);
}

/** Requests or limits of all containers. Pod-level resources take precedence. */
export function specifiedAmounts(spec: PodSpec, side: Side, counts = isPodLevelResource): Map<string, Quantity> {
  return withPodLevel(
    containersTogether(spec, ({ resources }) => resources?.[side]),
    spec,
    side,
    counts,
  );
}

function withPodLevel(
  total: Map<string, Quantity>,
  spec: PodSpec,
  side: Side,
  counts: (name: string) => boolean,
): Map<string, Quantity> {
  for (const [name, amount] of readAmounts(spec.resources?.[side])) if (counts(name)) total.set(name, amount);
  return total;
}

/** Requests or limits of a pod by its spec, overhead included. Upstream: `PodRequests` and `PodLimits`. */
export function podAmounts(pod: KubeObject, side: Side): Map<string, Quantity> {
  const spec = podSpecOf(pod);
  return withOverhead(specifiedAmounts(spec, side), spec, side);
}

/** Options of `podAmountsInUse`. */
export interface InUseOptions {
  /** Amounts of containers that do not specify a resource. Upstream: `NonMissingContainerRequests`. */
  readonly missing?: Amounts;
  /** Upstream: `SkipPodLevelResources`. */
  readonly skipsPodLevel?: boolean;
}

/**
 * Like `podAmounts`, but includes the resources allocated according to the status while a resize is in progress
 * (`UseStatusResources`).
 */
export function podAmountsInUse(
  pod: KubeObject,
  side: Side,
  { missing, skipsPodLevel = false }: InUseOptions = {},
): Map<string, Quantity> {
  const spec = podSpecOf(pod);
  const status = podStatusOf(pod);
  const together = (amountsOf: AmountsOf) => containersTogether(spec, amountsOf, missing);
  const inUse = containersInUse(status, side, together);
  const total = greatestAmounts(
    isResizeInfeasible(status) ? NO_AMOUNTS : together(({ resources }) => resources?.[side]),
    ...inUse,
  );
  const counts = skipsPodLevel ? () => false : isPodLevelResource;
  return withOverhead(withPodLevel(total, spec, side, counts), spec, side);
}

/**
 * Requests or limits of containers by their status: allocatedResources and actual resources. Unknown values are taken
 * from the spec, unless the resize is infeasible.
 */
function containersInUse(status: PodStatus, side: Side, together: (amountsOf: AmountsOf) => Amounts): Amounts[] {
  const statuses = new Map<string, ContainerStatus>();
  for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    statuses.set(one.name ?? "", one);
  }
  if (statuses.size === 0 && !isResizeInfeasible(status)) return [];
  const asked: AmountsOf = ({ resources }) => (isResizeInfeasible(status) ? undefined : resources?.[side]);
  const has = ({ name = "" }: Container) => statuses.get(name)?.resources?.[side];
  if (side === "limits") return [together((one) => has(one) ?? asked(one))];
  const allocated = ({ name = "" }: Container) => statuses.get(name)?.allocatedResources;
  return [together((one) => allocated(one) ?? asked(one)), together((one) => has(one) ?? allocated(one) ?? asked(one))];
}

function isResizeInfeasible({ conditions }: PodStatus): boolean {
  return conditions?.find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
}

/** Overhead is added to all requests, but only to existing limits. */
function withOverhead(total: Map<string, Quantity>, { overhead }: PodSpec, side: Side): Map<string, Quantity> {
  const extra = readAmounts(overhead);
  if (side === "requests") return addAmounts(total, extra);
  for (const [name, amount] of extra) {
    const limit = total.get(name);
    if (limit && limit.mantissa !== 0n) total.set(name, addQuantities(limit, amount));
  }
  return total;
}
