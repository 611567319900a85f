const FIRST_MS = 1000;
const MAX_MS = 900_000;

interface Delay {
  readonly ms: number;
  readonly sinceMs: number;
}

/** Delays between deletions of failed Pods, because a kubelet may reject the next Pod as well. */
export class FailedPodsBackoff {
  /** The least recent delay is first. */
  readonly #delays = new Map<string, Delay>();

  /** The rest of the delay in milliseconds, or undefined if it is over. Then a longer one begins. */
  wait(key: string, nowMs: number): number | undefined {
    this.#forget(nowMs);
    const known = this.#delays.get(key);
    const restMs = known ? known.sinceMs + known.ms - nowMs : 0;
    if (restMs > 0) return restMs;
    this.#delays.delete(key);
    this.#delays.set(key, { ms: known ? Math.min(2 * known.ms, MAX_MS) : FIRST_MS, sinceMs: nowMs });
    return undefined;
  }

  #forget(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#delays) {
      if (nowMs - sinceMs <= 2 * MAX_MS) return;
      this.#delays.delete(key);
    }
  }
}
