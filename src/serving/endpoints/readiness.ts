import type { Clock } from "../../base/util/clock.ts";
import type { ObservedStore } from "../../storage/observed-store.ts";
import type { Store } from "../../storage/store.ts";
import type { HealthCheck } from "./health.ts";

/** Fails once the server is shutting down. */
export function shutdownCheck(stopping: AbortSignal): HealthCheck {
  return {
    name: "shutdown",
    async check() {
      if (stopping.aborted) throw new Error("process is shutting down");
    },
  };
}

/** Fails after a failed write until the next successful one. */
export function writesCheck(store: ObservedStore): HealthCheck {
  return { name: "etcd-readiness", check: async () => store.requireWritable() };
}

/** Time limit for a response of the store. Less than the time limit of a health check. */
const PATIENCE_MS = 1800;

/**
 * Fails if the store does not respond. If an earlier check has been waiting for longer than the time limit, later
 * checks fail immediately. The earlier check notices when the store responds again.
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

/** A post-start hook of kube-apiserver. The check fails until the hook has finished. */
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
