import type { Pod, StatefulSet, StatefulSetStatus } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { podFrom } from "../../shared/pod-control.ts";
import { hasFinished, isAvailable } from "../../shared/pods.ts";
import { slowStart } from "../../shared/slow-start.ts";
import type { ClaimControl } from "./claim-control.ts";
import {
  hasIdentity,
  isInRange,
  ordinalOf,
  podName,
  REVISION_LABEL,
  revisionOf,
  sizeOf,
  startOf,
  withIdentity,
} from "./identity.ts";
import type { StatefulPodControl } from "./stateful-pod-control.ts";
import type { Revisions } from "./stateful-revisions.ts";
import { countedStatus, isCreated, isLeaving, isRunningAndReady } from "./stateful-set-status.ts";
import { hasStorage, withStorage } from "./storage.ts";

/** What a rollout works with. */
export interface RolloutContext {
  readonly control: StatefulPodControl;
  readonly claims: ClaimControl;
  readonly setResource: ServedResource;
}

/** A StatefulSet and its Pods at one time. */
export interface Observed {
  readonly set: StatefulSet;
  /** The set with the spec of the current revision. */
  readonly currentSet: StatefulSet;
  /** The set with the spec of the update revision. */
  readonly updateSet: StatefulSet;
  readonly revisions: Revisions;
  readonly pods: readonly Pod[];
  readonly nowMs: number;
}

/** Takes the next step for one StatefulSet: Pods are created, replaced and deleted in the order of their ordinals. */
export class Rollout {
  readonly #context: RolloutContext;
  readonly #observed: Observed;
  /** By index. Those that do not exist yet have no phase. */
  readonly #replicas: readonly Pod[];
  /** Pods with ordinals out of range, the highest first. */
  readonly #condemned: readonly Pod[];
  #status: StatefulSetStatus;

  constructor(context: RolloutContext, observed: Observed) {
    this.#context = context;
    this.#observed = observed;
    const { set, pods } = observed;
    const existing = new Map(pods.filter((pod) => isInRange(set, pod)).map((pod) => [ordinalOf(pod), pod]));
    this.#replicas = Array.from({ length: sizeOf(set) }, (_, index) => {
      const ordinal = startOf(set) + index;
      return existing.get(ordinal) ?? this.#newPod(ordinal);
    });
    this.#condemned = pods
      .filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, pod))
      .sort((one, other) => ordinalOf(other) - ordinalOf(one));
    this.#status = this.#count(pods);
  }

  /** The status after the step, also if it failed. */
  get status(): StatefulSetStatus {
    return this.#status;
  }

  async step(): Promise<void> {
    const { set } = this.#observed;
    if (set.metadata.deletionTimestamp !== undefined) return;
    let isEstablished = false;
    try {
      isEstablished = await this.#establish();
    } finally {
      this.#status = this.#count([...this.#replicas, ...this.#condemned]);
    }
    if (isEstablished && set.spec.updateStrategy?.type === "RollingUpdate") await this.#update();
  }

  #count(pods: readonly Pod[]): StatefulSetStatus {
    const { set, revisions, nowMs } = this.#observed;
    return countedStatus(set, revisions, pods, nowMs);
  }

  get #isParallel(): boolean {
    return this.#observed.set.spec.podManagementPolicy === "Parallel";
  }

  #isAvailable(pod: Pod): boolean {
    const { set, nowMs } = this.#observed;
    return isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
  }

  #isUnavailable(pod: Pod): boolean {
    return !this.#isAvailable(pod) || isLeaving(pod);
  }

  #isOld(pod: Pod): boolean {
    return revisionOf(pod) !== this.#observed.revisions.update.metadata.name;
  }

  #newPod(ordinal: number): Pod {
    const { currentSet, updateSet, revisions } = this.#observed;
    const isCurrent = this.#staysCurrent(ordinal);
    const set = isCurrent ? currentSet : updateSet;
    const { name: revision = "" } = (isCurrent ? revisions.current : revisions.update).metadata;
    const named = withIdentity(set, podFrom(set.spec.template ?? {}, this.#context.setResource, set), ordinal);
    const { serviceName = "" } = set.spec;
    return withStorage(set, {
      ...named,
      metadata: { ...named.metadata, labels: { ...named.metadata.labels, [REVISION_LABEL]: revision } },
      spec: { ...named.spec, hostname: podName(set, ordinal), subdomain: serviceName },
    });
  }

  /** Whether a new Pod with this ordinal gets the current revision, and not the update revision. */
  #staysCurrent(ordinal: number): boolean {
    const { currentSet } = this.#observed;
    const { type, rollingUpdate } = currentSet.spec.updateStrategy ?? {};
    const index = ordinal - startOf(currentSet);
    if (rollingUpdate) return index < (rollingUpdate.partition ?? 0);
    return type === "RollingUpdate" && index < (currentSet.status?.currentReplicas ?? 0);
  }

  /** Brings all ordinals to life and removes surplus Pods. Returns false if it has to wait for something. */
  async #establish(): Promise<boolean> {
    const { updateSet } = this.#observed;
    const { claims } = this.#context;
    const retain = async (pod: Pod) => {
      if (!claims.isRetained(updateSet, pod)) await claims.retain(updateSet, pod);
      return true;
    };
    return (
      (await this.#forAll(this.#replicas, (pod) => this.#bringUp(pod))) &&
      (await this.#forAll(this.#condemned, retain)) &&
      (await this.#forAll(this.#condemned, (pod) => this.#remove(pod)))
    );
  }

  /** One Pod after the other until `visit` returns false, or many at once if their order does not matter. */
  async #forAll(pods: readonly Pod[], visit: (pod: Pod) => Promise<boolean>): Promise<boolean> {
    if (this.#isParallel) {
      await slowStart(pods.length, (index) => visit(pods[index] as Pod));
      return true;
    }
    for (const pod of pods) if (!(await visit(pod))) return false;
    return true;
  }

  /** Returns whether Pods with higher ordinals may be looked at. */
  async #bringUp(pod: Pod): Promise<boolean> {
    const { set, updateSet } = this.#observed;
    const { control, claims } = this.#context;
    if (hasFinished(pod)) {
      // A new Pod follows when this one is gone.
      if (!isLeaving(pod)) await control.delete(set, pod);
      return false;
    }
    if (!isCreated(pod)) {
      if (claims.isStale(set, pod)) return false;
      await control.create(set, pod);
      if (!this.#isParallel) return false;
    }
    if (pod.status?.phase === "Pending") await control.createMissingClaims(set, pod);
    const isUp = isRunningAndReady(pod) && !this.#isUnavailable(pod);
    if (!isUp && !this.#isParallel) return false;
    const isRight = hasIdentity(set, pod) && hasStorage(set, pod) && claims.isRetained(updateSet, pod);
    if (!isRight) await control.update(updateSet, pod);
    return true;
  }

  /** Deletes a surplus Pod. Returns whether Pods with lower ordinals may be deleted as well. */
  async #remove(pod: Pod): Promise<boolean> {
    if (isLeaving(pod)) return false;
    const isUp = isRunningAndReady(pod) && this.#isAvailable(pod);
    if (!isUp && !this.#isParallel && pod !== this.#firstUnavailable()) return false;
    await this.#context.control.delete(this.#observed.set, pod);
    return false;
  }

  /** The unavailable Pod with the lowest index, or else the surplus one with the lowest ordinal. */
  #firstUnavailable(): Pod | undefined {
    const isUnavailable = (pod: Pod) => this.#isUnavailable(pod);
    return this.#replicas.find(isUnavailable) ?? this.#condemned.findLast(isUnavailable);
  }

  /** Deletes Pods of old revisions, the highest ordinal first, so that they are created again. */
  async #update(): Promise<void> {
    const { set } = this.#observed;
    const { partition = 0, maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
    const unavailable = this.#replicas.filter((pod) => this.#isUnavailable(pod)).length;
    const budget = unavailableLimit(maxUnavailable, sizeOf(set)) - unavailable;
    const old = this.#replicas
      .slice(partition)
      .reverse()
      .filter((pod) => this.#isOld(pod) && !isLeaving(pod));
    for (const pod of this.#isParallel ? this.#parallelChoice(old, budget) : old.slice(0, Math.max(0, budget))) {
      await this.#context.control.delete(set, pod);
      this.#status = { ...this.#status, currentReplicas: (this.#status.currentReplicas ?? 0) - 1 };
    }
  }

  /** All Pods that are unavailable anyway, and as many others as the limit allows. */
  #parallelChoice(old: readonly Pod[], budget: number): Pod[] {
    const [available, unavailable] = [true, false].map((wanted) =>
      old.filter((pod) => this.#isAvailable(pod) === wanted),
    ) as [Pod[], Pod[]];
    return [...unavailable, ...available.slice(0, Math.max(0, budget))];
  }
}

/** Upstream: getStatefulSetMaxUnavailable. At least one Pod may be unavailable. */
function unavailableLimit(value: number | string, total: number): number {
  const limit = typeof value === "string" ? Math.floor((Number.parseInt(value, 10) * total) / 100) : value;
  return Math.max(1, limit);
}
