import type { HealthCheck } from "../endpoints/health.ts";
import type { ObservedStore } from "../storage/observed-store.ts";

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
