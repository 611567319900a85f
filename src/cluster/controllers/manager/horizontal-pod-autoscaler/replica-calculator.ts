import { parseQuantity } from "../../../../base/api/quantity.ts";
import { roundUp } from "../../../../base/api/resource-amounts.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { isReady } from "../../shared/pods.ts";
import type { PodMetrics } from "./metrics-client.ts";

/** Upstream: --horizontal-pod-autoscaler-cpu-initialization-period and -initial-readiness-delay */
const CPU_START_MS = 300_000;
const READINESS_DELAY_MS = 30_000;
const MAX_INT32 = 2 ** 31 - 1;

/** How far a ratio may be from 1 without a change. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

/** A proposed size and the measured values. */
export interface Proposal {
  readonly replicas: number;
  /** The average, in thousandths. */
  readonly usage: bigint;
  /** In percent of the requests. */
  readonly utilization?: number;
}

/** What a size is computed from. */
export interface Measured {
  readonly pods: readonly Pod[];
  readonly metrics: PodMetrics;
  readonly current: number;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
}

/** Whether a ratio needs no change. */
export function isWithin({ down, up }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}

/** How a usage compares with its target. */
interface Comparison {
  readonly ratio: number;
  readonly usage: bigint;
  readonly utilization?: number;
}

/** What Pods without a sample count as, if the others are below their target. */
interface Rule {
  compare(metrics: ReadonlyMap<string, bigint>): Comparison;
  assumed(pod: string): bigint;
}

/** The size for a utilization in percent of the requests. Upstream: GetResourceReplicas */
export function utilizationReplicas(
  measured: Measured,
  resource: string,
  target: number,
  container?: string,
): Proposal {
  const known = usable(measured, resource);
  const requests = new Map(measured.pods.map((pod) => [pod.metadata.name ?? "", requestOf(pod, resource, container)]));
  const compare = (metrics: ReadonlyMap<string, bigint>): Comparison => {
    const counted = [...metrics].filter(([pod]) => requests.has(pod));
    const total = counted.reduce((sum, [, value]) => sum + value, 0n);
    const requested = counted.reduce((sum, [pod]) => sum + (requests.get(pod) ?? 0n), 0n);
    if (requested === 0n) throw new Error("no metrics returned matched known pods");
    const utilization = Number((total * 100n) / requested);
    return { ratio: utilization / target, utilization, usage: total / BigInt(counted.length) };
  };
  const assumed = (pod: string) => ((requests.get(pod) ?? 0n) * BigInt(Math.max(100, target))) / 100n;
  return replicasFor(measured, known, { compare, assumed });
}

/** The size for an average value. `resource` is empty for other metrics. Upstream: calcPlainMetricReplicas */
export function averageReplicas(measured: Measured, resource: string, target: bigint): Proposal {
  const compare = (metrics: ReadonlyMap<string, bigint>): Comparison => {
    const total = [...metrics.values()].reduce((sum, value) => sum + value, 0n);
    const usage = total / BigInt(metrics.size);
    return { ratio: Number(usage) / Number(target), usage };
  };
  return replicasFor(measured, usable(measured, resource), { compare, assumed: () => target });
}

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly values: Map<string, bigint>;
}

/** Pods by what their samples are worth. Throws if there are none to count. */
function usable({ pods, metrics, nowMs }: Measured, resource: string): Groups {
  if (pods.length === 0) throw new Error("no pods returned by selector while calculating replica count");
  const [unready, missing]: [string[], string[]] = [[], []];
  const values = new Map([...metrics].map(([pod, { value }]) => [pod, value]));
  let ready = 0;
  for (const pod of pods) {
    const { name = "" } = pod.metadata;
    const metric = metrics.get(name);
    const isIgnored = pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === "Failed";
    const isPending = pod.status?.phase === "Pending";
    if (!isIgnored && !isPending && metric === undefined) missing.push(name);
    else if (!isIgnored && metric && !isPending && !(resource === "cpu" && isStarting(pod, metric, nowMs))) ready++;
    else {
      values.delete(name);
      if (!isIgnored) unready.push(name);
    }
  }
  if (values.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)");
  return { ready, unready, missing, values };
}

/** Whether the CPU usage of a Pod is still that of its start. */
function isStarting(
  { status }: Pod,
  { timeMs, windowMs }: { timeMs: number; windowMs: number },
  nowMs: number,
): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || status?.startTime === undefined) return true;
  const startMs = Date.parse(status.startTime);
  const changedMs = Date.parse(ready.lastTransitionTime ?? "");
  if (startMs + CPU_START_MS > nowMs) return ready.status === "False" || timeMs < changedMs + windowMs;
  return ready.status === "False" && startMs + READINESS_DELAY_MS > changedMs;
}

function replicasFor(
  { current, tolerances }: Measured,
  { ready, unready, missing, values }: Groups,
  rule: Rule,
): Proposal {
  const { ratio, ...result } = rule.compare(values);
  const keep = { replicas: current, ...result };
  const isUpWithUnready = unready.length > 0 && ratio > 1;
  if (!isUpWithUnready && missing.length === 0) {
    return isWithin(tolerances, ratio) ? keep : { ...keep, replicas: toInt32(ratio * ready) };
  }
  // Pods without a sample never increase the change.
  for (const pod of missing) {
    if (ratio < 1) values.set(pod, rule.assumed(pod));
    else if (ratio > 1) values.set(pod, 0n);
  }
  if (isUpWithUnready) for (const pod of unready) values.set(pod, 0n);
  const next = rule.compare(values).ratio;
  if (isWithin(tolerances, next) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return keep;
  const replicas = toInt32(next * values.size);
  const isReversed = (next < 1 && replicas > current) || (next > 1 && replicas < current);
  return isReversed ? keep : { ...keep, replicas };
}

const toInt32 = (value: number) => Math.min(MAX_INT32, Math.ceil(value));

/** The size for one value of a metric. Upstream: getUsageRatioReplicaCount */
export function ratioReplicas(measured: Omit<Measured, "metrics" | "nowMs">, usage: bigint, target: bigint): Proposal {
  const { pods, current, tolerances } = measured;
  const ratio = Number(usage) / Number(target);
  if (current === 0) return { replicas: toInt32(ratio), usage };
  if (isWithin(tolerances, ratio)) return { replicas: current, usage };
  if (pods.length === 0) {
    throw new Error("unable to calculate ready pods: no pods returned by selector while calculating replica count");
  }
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length;
  return { replicas: toInt32(ratio * ready), usage };
}

/** The size for a value that all Pods share. Upstream: GetObjectPerPodMetricReplicas */
export function sharedReplicas(
  statusReplicas: number,
  tolerances: Tolerances,
  usage: bigint,
  target: bigint,
): Proposal {
  const ratio = Number(usage) / (Number(target) * statusReplicas);
  const replicas = isWithin(tolerances, ratio) ? statusReplicas : toInt32(Number(usage) / Number(target));
  const average = Number(usage) / statusReplicas;
  return { replicas, usage: Number.isFinite(average) ? BigInt(Math.ceil(average)) : 2n ** 63n - 1n };
}

/** What a Pod, or one of its containers, requests, in thousandths. Upstream: calculateRequests */
function requestOf({ metadata, spec }: Pod, resource: string, container: string | undefined): bigint {
  const { name = "" } = metadata;
  const ofPod = spec?.resources?.requests;
  if (
    ofPod !== undefined &&
    Object.keys(ofPod).length > 0 &&
    container === undefined &&
    ofPod[resource] !== undefined
  ) {
    return milli(ofPod[resource]);
  }
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const all = [...(spec?.containers ?? []), ...sidecars];
  const counted = container === undefined ? all : all.filter((one) => one.name === container);
  if (container !== undefined && counted.length === 0)
    throw new Error(`container ${container} not found in Pod ${name}`);
  return counted.reduce((sum, one) => {
    const request = one.resources?.requests?.[resource];
    if (request === undefined)
      throw new Error(`missing request for ${resource} in container ${one.name} of Pod ${name}`);
    return sum + milli(request);
  }, 0n);
}

const milli = (text: string) => roundUp(parseQuantity(text), 3);
