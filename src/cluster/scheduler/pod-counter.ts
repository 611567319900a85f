import { BoundedMemo } from "../../base/util/memoize.ts";
import type { NodeInfo } from "./node-info.ts";
import { perNode } from "./per-node.ts";
import type { PodInfo } from "./pod-info.ts";

/** Counts the Pods of a node that meet a condition. Counts a node again only after it has changed. */
export type PodCounter = (node: NodeInfo) => number;

/** Counters by their condition, so that Pods with the same condition share their counts. */
export class PodCounters {
  readonly #known = new BoundedMemo<string, PodCounter>({ results: 500, textLength: 10_000 });

  /** `key`: says all about the condition. */
  of(key: string, isCounted: (pod: PodInfo) => boolean): PodCounter {
    const known = this.#known.get(key);
    if (known) return known;
    const counter = perNode(({ pods }) => {
      let count = 0;
      for (const pod of pods.values()) if (isCounted(pod)) count += 1;
      return count;
    });
    this.#known.set(key, counter);
    return counter;
  }
}
