import type { HealthCheck } from "../endpoints/health.ts";
import type { Clock } from "../lib/clock.ts";
import type { ObservedStore } from "../storage/observed-store.ts";
import type { Store } from "../storage/store.ts";

/** Fails from the moment on in which the server is told to stop. */
export function shutdownCheck(stopping: AbortSignal): HealthCheck {
  return {
    name: "shutdown",
    async check() {
      if (stopping.aborted) throw new Error("process is shutting down");
    },
  };
}

/** Fails from a write that the store could not do until one that it could. */
export function writesCheck(store: ObservedStore): HealthCheck {
  return { name: "etcd-readiness", check: async () => store.requireWritable() };
}

/** For so long a store may leave a question unanswered; less than a health endpoint waits for a check. */
const PATIENCE_MS = 1800;

/**
 * Fails when the store does not answer. While it has left the question of an earlier check unanswered for some time, the
 * next one fails at once; whether it answers again, the earlier one finds out.
 */
export function storageCheck(store: Pick<Store, "revision">, clock: Pick<Clock, "monotonic">): HealthCheck {
  let waitingSinceMs: number | undefined;
  return {
    name: "etcd",
    async check() {
      const nowMs = clock.monotonic();
      if (waitingSinceMs !== undefined && nowMs - waitingSinceMs >= PATIENCE_MS) {
        throw new Error("context deadline exceeded");
      }
      waitingSinceMs ??= nowMs;
      try {
        await store.revision();
      } finally {
        waitingSinceMs = undefined;
      }
    },
  };
}

/** Something that kube-apiserver does when it has started: not well until it is done. */
export class PostStartHook implements HealthCheck {
  readonly name: string;
  #isDone = false;

  constructor(name: string) {
    this.name = `poststarthook/${name}`;
  }

  finish(): void {
    this.#isDone = true;
  }

  async check(): Promise<void> {
    if (!this.#isDone) throw new Error("not finished");
  }
}
