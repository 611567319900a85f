import { BoundedMemo } from "../../base/util/memoize.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

interface Count {
  readonly generation: number;
  readonly count: number;
}

/** Counts the Pods of a node that meet a condition. Counts a node again only after it has changed. */
export class PodCounter {
  readonly #isCounted: (pod: PodInfo) => boolean;
  readonly #known = new WeakMap<NodeInfo, Count>();

  constructor(isCounted: (pod: PodInfo) => boolean) {
    this.#isCounted = isCounted;
  }

  count(node: NodeInfo): number {
    const { generation, pods } = node;
    if (pods.size === 0) return 0;
    const known = this.#known.get(node);
    if (known?.generation === generation) return known.count;
    let count = 0;
    for (const pod of pods.values()) if (this.#isCounted(pod)) count += 1;
    this.#known.set(node, { generation, count });
    return count;
  }
}

/** Counters by their condition, so that Pods with the same condition share their counts. */
export class PodCounters {
  readonly #known = new BoundedMemo<string, PodCounter>({ results: 500, textLength: 10_000 });

  /** `key`: says all about the condition. */
  of(key: string, isCounted: (pod: PodInfo) => boolean): PodCounter {
    const known = this.#known.get(key);
    if (known) return known;
    const counter = new PodCounter(isCounted);
    this.#known.set(key, counter);
    return counter;
  }
}
