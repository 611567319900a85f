import { isDeepStrictEqual } from "node:util";
import type { AllocationResult } from "../../../../kinds/built-in/resource/types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { disruptedStatus, patchPodStatus } from "../../shared/disruption.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { claimNameOf, isForPod, isReservedFor, type ResourceClaim } from "../../shared/resource-claims.ts";
import {
  claimDevices,
  currentSlices,
  type DeviceTaintRule,
  deviceKey,
  type ResourceSlice,
  resultsOf,
  selects,
  slicePool,
} from "../../shared/resource-slices.ts";
import {
  deviceEviction,
  type Eviction,
  isEvicting,
  joined,
  sliceDevices,
  type TrackedTaint,
  taintedDevices,
} from "./device-taints.ts";
import { IN_PROGRESS, type RuleCounts, ruleCondition } from "./rule-condition.ts";

const NAME = "device-taint-eviction-controller";
const GROUP = "resource.k8s.io";
/** Upstream: ruleStatusPeriod. The shortest time between two updates of the status of a rule. */
const STATUS_PERIOD_MS = 10_000;
const POD = "pod:";
const RULE = "rule:";

/**
 * device-taint-eviction-controller: deletes Pods whose ResourceClaims do not tolerate the NoExecute taints of their
 * devices. The taints come from ResourceSlices and DeviceTaintRules.
 */
export function deviceTaintEviction(context: ManagerContext): Controller {
  // Scheduled evictions follow from the objects that it sees when it starts.
  return { name: NAME, run: (signal) => evictionLoop(context).run(signal) };
}

function evictionLoop(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: pods } = informers.of<Pod>("", "pods");
  const { informer: claims } = informers.of<ResourceClaim>(GROUP, "resourceclaims");
  const { informer: slices } = informers.of<ResourceSlice>(GROUP, "resourceslices");
  const { informer: rules } = informers.of<DeviceTaintRule>(GROUP, "devicetaintrules");
  const claimsByDevice = claims.index(claimDevices);
  const slicesByPool = slices.index(slicePool);
  const slicesByDevice = slices.index(sliceDevices);
  const recorder = new EventRecorder(context, NAME);
  /** By the key of the Pod. */
  const evictions = new Map<string, Eviction & { readonly uid: string | undefined }>();
  /** Pods evicted because of a rule, by the uid of the rule. */
  const evictedPods = new Map<string | undefined, number>();

  const record = (
    { kind, apiVersion, metadata: { namespace = "", name = "", uid = "" } }: Pod,
    message: string,
  ): void => {
    const target = { kind, apiVersion, metadata: { namespace, name, uid } };
    recorder.record(pods.resource, target, "Normal", "DeviceTaintManagerEviction", message);
  };

  /** All taints of a device that evict Pods. */
  const taintsOf = (
    { driver, pool, device }: AllocationResult,
    evicting: Iterable<DeviceTaintRule>,
  ): TrackedTaint[] => {
    const candidates = slicesByDevice.get(deviceKey(driver, pool, device));
    const [slice] = currentSlices(candidates, slicesByPool.get(deviceKey(driver, pool)));
    const published = slice?.spec?.devices?.find(({ name }) => name === device);
    const own = (published?.taints ?? []).filter(isEvicting).map((taint) => ({ taint, rule: undefined }));
    const ruled: TrackedTaint[] = [];
    for (const rule of evicting) {
      const taint = rule.spec?.taint;
      if (taint && selects(rule, driver, pool, device)) ruled.push({ taint, rule });
    }
    return [...own, ...ruled];
  };

  const evictingRules = (): DeviceTaintRule[] => [...rules.all()].filter(({ spec }) => isEvicting(spec?.taint));

  /** When a Pod must be evicted. Undefined if there is no need to. */
  const evictionOf = (pod: Pod, evicting: readonly DeviceTaintRule[]): Eviction | undefined => {
    if ((pod.spec?.nodeName ?? "") === "") return undefined;
    const found = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
      const wanted = claimNameOf(pod, entry);
      const claim = wanted.state === "named" ? claims.get(`${pod.metadata.namespace}/${wanted.name}`) : undefined;
      if (wanted.state !== "named" || claim === undefined || !isReservedFor(claim, pod)) return [];
      if (wanted.isGenerated && !isForPod(claim, pod)) return [];
      return resultsOf(claim).flatMap((result) => deviceEviction(result, taintsOf(result, evicting)) ?? []);
    });
    return joined(found);
  };

  const decide = (pod: Pod, evicting: readonly DeviceTaintRule[], queue: Queue): void => {
    const key = keyOf(pod);
    const { uid } = pod.metadata;
    const eviction = evictionOf(pod, evicting);
    if (eviction === undefined) {
      if (evictions.delete(key)) record(pod, "Cancelling deletion");
      return;
    }
    // It has been evicted already.
    if (pod.metadata.deletionTimestamp !== undefined) return;
    evictions.set(key, { ...eviction, uid });
    const delayMs = eviction.atMs - clock.now();
    if (delayMs > 0) queue.addAfter(`${POD}${key}`, delayMs);
    else queue.add(`${POD}${key}`);
    addStatus(eviction, queue);
  };

  /** Updates the status of the rules later, because more Pods may follow. */
  const addStatus = ({ rules: reasons }: Eviction, queue: Queue): void => {
    for (const rule of reasons) queue.addAfter(`${RULE}${rule.metadata.name}`, STATUS_PERIOD_MS);
  };

  /** The Pods that a claim is reserved for. */
  function* podsOf(claim: ResourceClaim): Generator<Pod> {
    for (const { apiGroup = "", resource, name, uid } of claim.status?.reservedFor ?? []) {
      const pod = apiGroup === "" && resource === "pods" ? pods.get(`${claim.metadata.namespace}/${name}`) : undefined;
      if (pod && pod.metadata.uid === uid) yield pod;
    }
  }

  const decideClaims = (affected: Iterable<ResourceClaim>, queue: Queue): void => {
    const evicting = evictingRules();
    for (const claim of affected) for (const pod of podsOf(claim)) decide(pod, evicting, queue);
  };

  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      if (after === undefined) {
        if (before) evictions.delete(keyOf(before));
        return;
      }
      if ((after.spec?.resourceClaims ?? []).length === 0) return;
      const isSame =
        before?.spec?.nodeName === after.spec?.nodeName &&
        isDeepStrictEqual(before?.status?.resourceClaimStatuses, after.status?.resourceClaimStatuses);
      if (before === undefined || !isSame) decide(after, evictingRules(), queue);
    };

  const observeClaim =
    (queue: Queue): Observer<ResourceClaim> =>
    (before, after) => {
      const isSame = before && after && isDeepStrictEqual(before.status, after.status);
      if (!isSame)
        decideClaims(
          [before, after].filter((one) => one !== undefined),
          queue,
        );
    };

  /** Looks at the tainted devices of the pool. A new generation of it makes other slices outdated. */
  const observeSlice =
    (queue: Queue): Observer<ResourceSlice> =>
    (before, after) => {
      const changed = [before, after].filter((slice) => slice !== undefined);
      const keys = new Set<string>();
      for (const { spec } of changed) {
        const pool = deviceKey(spec?.driver, spec?.pool?.name);
        for (const slice of [...changed, ...slicesByPool.get(pool)]) {
          const { driver, pool: own } = slice.spec ?? {};
          for (const { name } of taintedDevices(slice)) keys.add(deviceKey(driver, own?.name, name));
        }
      }
      const affected = new Set<ResourceClaim>();
      for (const key of keys) for (const claim of claimsByDevice.get(key)) affected.add(claim);
      decideClaims(affected, queue);
    };

  const claimsOf = (rule: DeviceTaintRule): ResourceClaim[] =>
    [...claims.all()].filter((claim) =>
      resultsOf(claim).some(({ driver, pool, device }) => selects(rule, driver, pool, device)),
    );

  const observeRule =
    (queue: Queue): Observer<DeviceTaintRule> =>
    (before, after) => {
      if (before && after && isDeepStrictEqual(before.spec, after.spec)) return;
      if (after) queue.add(`${RULE}${after.metadata.name}`);
      else evictedPods.delete(before?.metadata.uid);
      for (const rule of [before, after]) {
        if (rule && isEvicting(rule.spec?.taint)) decideClaims(claimsOf(rule), queue);
      }
    };

  const evict = async (pod: Pod): Promise<void> => {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const cause = {
      reason: "DeletionByDeviceTaintManager",
      message: "Device Taint manager: deleting due to NoExecute taint",
    };
    record(pod, "Marking for deletion");
    const status = disruptedStatus(pod, { ...cause, time: printTime(clock.now()), hasGeneration: false });
    await patchPodStatus(client, pods.resource, pod, status);
    await client.delete(pods.resource, { namespace, name }, { preconditions: { uid } });
    await pods.changes(pod);
  };

  const syncPod = async (key: string, queue: Queue): Promise<void> => {
    const eviction = evictions.get(key);
    const pod = pods.get(key);
    if (eviction === undefined || pod?.metadata.uid !== eviction.uid) return;
    const restMs = eviction.atMs - clock.now();
    if (restMs > 0) return queue.addAfter(`${POD}${key}`, restMs);
    if (pod?.metadata.deletionTimestamp === undefined) {
      await evict(pod as Pod).catch(unlessCode(404));
      for (const { metadata } of eviction.rules) {
        evictedPods.set(metadata.uid, (evictedPods.get(metadata.uid) ?? 0) + 1);
      }
      addStatus(eviction, queue);
    }
    if (evictions.get(key) === eviction) evictions.delete(key);
  };

  const countFor = (rule: DeviceTaintRule): RuleCounts => {
    const counted = { ...rule, spec: { ...rule.spec, taint: { ...rule.spec?.taint, effect: "NoExecute" } } };
    const { effect } = rule.spec?.taint ?? {};
    const isSimulated = effect === "None";
    const pending = new Map<string, Pod>();
    if (isSimulated || effect === "NoExecute") {
      for (const pod of claimsOf(rule).flatMap((claim) => [...podsOf(claim)])) {
        const isLeaving = pod.metadata.deletionTimestamp !== undefined;
        if (!isLeaving && evictionOf(pod, [counted])?.rules.has(counted)) pending.set(keyOf(pod), pod);
      }
    }
    return {
      evictedPods: evictedPods.get(rule.metadata.uid) ?? 0,
      pods: pending.size,
      namespaces: new Set([...pending.values()].map(({ metadata }) => metadata.namespace)).size,
      publishedDevices: isSimulated ? publishedDevices(rule) : 0,
      allocatedDevices: isSimulated ? allocatedDevices(rule) : 0,
    };
  };

  const publishedDevices = (rule: DeviceTaintRule): number => {
    const pools = Map.groupBy(slices.all(), (slice) => slicePool(slice)[0] ?? "");
    const current = [...pools.values()].flatMap((pool) => currentSlices(pool, pool));
    return current.reduce((sum, { spec }) => {
      const selected = (spec?.devices ?? []).filter(({ name }) => selects(rule, spec?.driver, spec?.pool?.name, name));
      return sum + selected.length;
    }, 0);
  };

  const allocatedDevices = (rule: DeviceTaintRule): number =>
    claimsOf(rule)
      .flatMap(resultsOf)
      .filter(({ driver, pool, device }) => selects(rule, driver, pool, device)).length;

  const syncRule = async (name: string, queue: Queue): Promise<void> => {
    const rule = rules.get(name);
    if (rule === undefined) return;
    const known = rule.status?.conditions?.find(({ type }) => type === IN_PROGRESS);
    const sinceMs = clock.now() - Date.parse(known?.lastTransitionTime ?? "");
    if (known?.observedGeneration === (rule.metadata.generation ?? 0) && sinceMs < STATUS_PERIOD_MS) {
      return queue.addAfter(`${RULE}${name}`, STATUS_PERIOD_MS - sinceMs);
    }
    const condition = ruleCondition(rule, countFor(rule));
    const { lastTransitionTime: _, ...before } = known ?? {};
    if (isDeepStrictEqual({ message: "", ...before }, condition)) return;
    const { definition } = rules.resource;
    const newest = resources.catalog.find(definition.group, definition.versions[0]?.name ?? "", definition.plural);
    const resource = newest ?? rules.resource;
    const { uid = "" } = rule.metadata;
    const applied = {
      kind: definition.kind,
      apiVersion: resource.apiVersion,
      metadata: { name, uid },
      status: { conditions: [{ ...condition, lastTransitionTime: printTime(clock.now()) }] },
    };
    const written = await client.apply(resource, applied, { fieldManager: NAME, subresource: "status" });
    await rules.sees(written.metadata.resourceVersion);
  };

  return loop({
    name: NAME,
    workers: 10,
    clock,
    report,
    sources: [
      source(pods, observePod),
      source(claims, observeClaim),
      source(slices, observeSlice),
      source(rules, observeRule),
    ],
    sync: (key, queue) =>
      key.startsWith(POD) ? syncPod(key.slice(POD.length), queue) : syncRule(key.slice(RULE.length), queue),
  });
}
