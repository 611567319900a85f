import { type ClusterEvent, isOfInterest } from "./cluster-events.ts";
import type { Profile } from "./profile.ts";
import type { QueuedPod } from "./queued-pod.ts";

/** Pods that plugins have rejected, by the names of the plugins. An event costs only Pods whose plugins it concerns. */
export class RejectedPods {
  readonly #pods = new Set<QueuedPod>();
  readonly #byPlugin = new Map<string, Set<QueuedPod>>();

  add(queued: QueuedPod): void {
    this.#pods.add(queued);
    for (const plugin of queued.rejectors) {
      const pods = this.#byPlugin.get(plugin);
      if (pods) pods.add(queued);
      else this.#byPlugin.set(plugin, new Set([queued]));
    }
  }

  /** Returns false if the Pod was not rejected. To be called before its rejectors change. */
  delete(queued: QueuedPod): boolean {
    for (const plugin of queued.rejectors) {
      const pods = this.#byPlugin.get(plugin);
      pods?.delete(queued);
      if (pods?.size === 0) this.#byPlugin.delete(plugin);
    }
    return this.#pods.delete(queued);
  }

  has(queued: QueuedPod): boolean {
    return this.#pods.has(queued);
  }

  all(): Iterable<QueuedPod> {
    return this.#pods;
  }

  /** The Pods that were rejected by plugins which are interested in the event. */
  byAny(event: ClusterEvent, profiles: Iterable<Profile>): Set<QueuedPod> {
    const found = new Set<QueuedPod>();
    if (this.#pods.size === 0) return found;
    for (const { plugins } of profiles) {
      for (const { plugin } of plugins) {
        const pods = this.#byPlugin.get(plugin.name);
        if (pods === undefined || !plugin.events?.some((one) => isOfInterest(one, event))) continue;
        for (const queued of pods) found.add(queued);
      }
    }
    return found;
  }
}
