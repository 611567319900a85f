import { setTimeout as sleep } from "node:timers/promises";

const MAX_DELAY_MS = 60_000;

/** Reconciles each key sequentially, and again with growing delays while that fails. */
export class WorkQueue {
  readonly #reconcile: (key: string) => Promise<void>;
  readonly #retryMs: number;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(reconcile: (key: string) => Promise<void>, retryMs: number) {
    this.#reconcile = reconcile;
    this.#retryMs = retryMs;
  }

  /** Reconciles a key soon. If it is being reconciled, once more afterwards. */
  add(key: string): void {
    this.#waiting.add(key);
    if (!this.#running.has(key)) this.#running.set(key, this.#run(key));
  }

  /** Resolves when nothing is being reconciled any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }

  async #run(key: string): Promise<void> {
    const { signal } = this.#stop;
    // Lets the caller register this run first.
    await Promise.resolve();
    let failures = 0;
    while (!signal.aborted && this.#waiting.delete(key)) {
      try {
        await this.#reconcile(key);
        failures = 0;
      } catch {
        this.#waiting.add(key);
        const delayMs = Math.min(this.#retryMs * 2 ** failures++, MAX_DELAY_MS);
        await sleep(delayMs, undefined, { signal }).catch(() => {});
      }
    }
    this.#running.delete(key);
  }
}
