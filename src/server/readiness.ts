import type { HealthCheck } from "../endpoints/health.ts";

/** Fails from the moment on in which the server is told to stop. */
export function shutdownCheck(stopping: AbortSignal): HealthCheck {
  return {
    name: "shutdown",
    async check() {
      if (stopping.aborted) throw new Error("process is shutting down");
    },
  };
}
