import type { KubeObject } from "../../base/api/object.ts";
import type { Clock, Timer } from "../../base/util/clock.ts";
import { Heap } from "../../base/util/heap.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { type ClusterEvent, isOfInterest, podEvents } from "./cluster-events.ts";
import { podInfoOf } from "./pod-info.ts";
import type { Profile } from "./profile.ts";
import { type Backoff, backoffEnd, DEFAULT_BACKOFF, isBefore, type QueuedPod } from "./queued-pod.ts";
import { RejectedPods } from "./rejected-pods.ts";

/** Options of a SchedulingQueue. */
export interface QueueOptions {
  readonly clock: Clock;
  /** By `schedulerName`. Only Pods of these are queued. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Called when `pop` may return a Pod again. */
  readonly onReady: () => void;
  readonly backoff?: Backoff;
}

/** A Pod stays in the set of rejected Pods for so long at most. Upstream: podMaxInUnschedulablePodsDuration */
const MAX_REJECTED_MS = 300_000;

/**
 * The Pods that wait: those to be tried now, those that were rejected until a change may help, and those whose change
 * came before their backoff had ended. Upstream: PriorityQueue, with activeQ, unschedulableEntities and backoffQ
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #onReady: () => void;
  readonly #backoff: Backoff;
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active = new Heap(isBefore);
  readonly #backingOff: Heap<QueuedPod>;
  /** After errors. Pods of it are never tried before their backoff has ended. */
  readonly #failed: Heap<QueuedPod>;
  readonly #rejected = new RejectedPods();
  #timer: Timer | undefined;
  #order = 0;

  constructor({ clock, profiles, onReady, backoff = DEFAULT_BACKOFF }: QueueOptions) {
    this.#clock = clock;
    this.#profiles = profiles;
    this.#onReady = onReady;
    this.#backoff = backoff;
    const endsBefore = (one: QueuedPod, other: QueuedPod) => {
      const [end, otherEnd] = [backoffEnd(one, backoff), backoffEnd(other, backoff)];
      return end === otherEnd ? isBefore(one, other) : end < otherEnd;
    };
    this.#backingOff = new Heap(endsBefore);
    this.#failed = new Heap(endsBefore);
  }

  add(pod: Pod): void {
    const info = podInfoOf(pod);
    this.delete(info.uid);
    const queued: QueuedPod = {
      ...{ info, sinceMs: this.#clock.now(), order: this.#order++ },
      ...{ unschedulableCount: 0, errorCount: 0, rejectors: new Set<string>() },
    };
    this.#pods.set(info.uid, queued);
    this.#activate(queued);
  }

  /** A Pod that waits has changed, which may make it schedulable. */
  update(before: Pod, after: Pod): void {
    const info = podInfoOf(after);
    const queued = this.#pods.get(info.uid);
    if (queued === undefined) {
      this.add(after);
      return;
    }
    queued.info = info;
    if (!this.#rejected.has(queued)) {
      this.#reorder(queued);
      return;
    }
    const events = podEvents("TargetPod", before, after);
    if (events.some((event) => this.#isHelpful(queued, event, before, after))) this.#release(queued);
  }

  delete(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued === undefined) return;
    this.#pods.delete(uid);
    this.#active.delete(queued);
    this.#backingOff.delete(queued);
    this.#failed.delete(queued);
    this.#rejected.delete(queued);
  }

  /** The Pod as it waits, or as the last attempt began. */
  get(uid: string): QueuedPod | undefined {
    return this.#pods.get(uid);
  }

  /** Removes the next Pod to try. Undefined if there is none now. */
  pop(): QueuedPod | undefined {
    this.#endBackoffs();
    // Compat: an idle scheduler does not let Pods wait for the end of their backoff (`SchedulerPopFromBackoffQ`).
    const next = this.#active.first ?? this.#backingOff.first;
    if (next === undefined) this.#wakeLater();
    else this.delete(next.info.uid);
    return next;
  }

  /** Takes a Pod back after a failed attempt. `rejectors`: the plugins that rejected it, none after an error. */
  takeBack(queued: QueuedPod, pod: Pod, rejectors: ReadonlySet<string>): void {
    if (this.#pods.has(queued.info.uid)) return;
    queued.info = podInfoOf(pod);
    queued.rejectors = rejectors;
    queued.sinceMs = this.#clock.now();
    queued.order = this.#order++;
    this.#pods.set(queued.info.uid, queued);
    if (rejectors.size > 0) {
      queued.unschedulableCount += 1;
      queued.errorCount = 0;
      this.#rejected.add(queued);
    } else {
      queued.errorCount += 1;
      this.#requeue(queued);
    }
  }

  /** Tries Pods again that a change in the cluster may help. `isMeant`: which. Default: all. */
  changed(
    event: ClusterEvent,
    before: KubeObject | undefined,
    after: KubeObject | undefined,
    isMeant: (pod: QueuedPod) => boolean = () => true,
  ): void {
    for (const queued of this.#rejected.byAny(event, this.#profiles.values())) {
      if (isMeant(queued) && this.#isHelpful(queued, event, before, after)) this.#release(queued);
    }
  }

  /** Tries a Pod again at once. */
  retry(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued && this.#rejected.delete(queued)) this.#requeue(queued);
  }

  /** Tries Pods again that were rejected long ago. To be called every 30 s. */
  flush(): void {
    const longAgo = this.#clock.now() - MAX_REJECTED_MS;
    for (const queued of [...this.#rejected.all()]) if (queued.sinceMs < longAgo) this.#release(queued);
  }

  close(): void {
    this.#timer?.close();
  }

  #release(queued: QueuedPod): void {
    this.#rejected.delete(queued);
    this.#requeue(queued);
  }

  #requeue(queued: QueuedPod): void {
    if (backoffEnd(queued, this.#backoff) <= this.#clock.now()) this.#activate(queued);
    else if (!this.#isGated(queued)) {
      (queued.errorCount > 0 ? this.#failed : this.#backingOff).set(queued);
      this.#onReady();
    }
  }

  #activate(queued: QueuedPod): void {
    if (this.#isGated(queued)) return;
    this.#active.set(queued);
    this.#onReady();
  }

  /** If a plugin gates the Pod, it joins the rejected ones. */
  #isGated(queued: QueuedPod): boolean {
    queued.gate = this.#profileOf(queued)?.gate(queued.info.pod);
    if (queued.gate === undefined) return false;
    queued.rejectors = new Set([...queued.rejectors, queued.gate]);
    this.#rejected.add(queued);
    return true;
  }

  /** Upstream: isPodWorthRequeuing */
  #isHelpful(queued: QueuedPod, event: ClusterEvent, before?: KubeObject, after?: KubeObject): boolean {
    const { pod } = queued.info;
    const plugins = this.#profileOf(queued)?.plugins ?? [];
    const gate = plugins.find(({ plugin }) => plugin.name === queued.gate)?.plugin;
    if (gate && !gate.events?.some((one) => isOfInterest(one, event))) return false;
    for (const { plugin } of plugins) {
      if (!queued.rejectors.has(plugin.name)) continue;
      for (const one of plugin.events ?? []) {
        if (isOfInterest(one, event) && (one.hint === undefined || one.hint(pod, before, after))) return true;
      }
    }
    return false;
  }

  #profileOf({ info }: QueuedPod): Profile | undefined {
    return this.#profiles.get(info.pod.spec?.schedulerName ?? "");
  }

  #reorder(queued: QueuedPod): void {
    for (const heap of [this.#active, this.#backingOff, this.#failed]) if (heap.delete(queued)) heap.set(queued);
  }

  #endBackoffs(): void {
    const nowMs = this.#clock.now();
    for (const heap of [this.#backingOff, this.#failed]) {
      for (let { first } = heap; first && backoffEnd(first, this.#backoff) <= nowMs; first = heap.first) {
        heap.delete(first);
        this.#active.set(first);
      }
    }
  }

  #wakeLater(): void {
    this.#timer?.close();
    const { first } = this.#failed;
    if (first === undefined) return;
    const waitMs = backoffEnd(first, this.#backoff) - this.#clock.now();
    this.#timer = this.#clock.setTimer(Math.max(0, waitMs), this.#onReady);
  }
}
