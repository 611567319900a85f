import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { ObserveCheck } from "./health.ts";

/** The paths of metrics endpoints. */
export const metricsPaths = ["/metrics", "/metrics/slis"] as const;

/** The registry of each path. */
export type ShownMetrics = Readonly<Record<(typeof metricsPaths)[number], MetricRegistry>>;

/**
 * Serves `/metrics` and `/metrics/slis` for any method. Returns undefined for other paths. Compat: DELETE resets
 * counters, like `MetricsWithReset`.
 */
export function metrics(shown: ShownMetrics, startMs: number): (call: Call) => ApiReply | undefined {
  const headers = {
    // Compat: the Content-Type of promhttp's `HandlerFor`, here regardless of the Accept header.
    "content-type": "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
    // Compat: the header of component-base's `HandlerWithReset`.
    "process-start-time-unix": String(Math.floor(startMs / 1000)),
  };
  return ({ request: { method, path } }) => {
    const registry = path === "/metrics" || path === "/metrics/slis" ? shown[path] : undefined;
    if (registry === undefined) return undefined;
    if (method === "DELETE") {
      registry.reset();
      const plain = { "content-type": "text/plain; charset=utf-8" };
      return { type: "raw", code: 200, headers: plain, body: "metrics reset\n" };
    }
    return { type: "raw", code: 200, headers, body: registry.bytes() };
  };
}

/** Counts results of health checks, under the names of component-base's SLI metrics. */
export function countChecks(registry: MetricRegistry): ObserveCheck {
  const last = registry.gauge({
    name: "kubernetes_healthcheck",
    help: "[STABLE] This metric records the result of a single healthcheck.",
    labels: ["name", "type"],
  });
  const all = registry.counter({
    name: "kubernetes_healthchecks_total",
    help: "[STABLE] This metric records the results of all healthcheck.",
    labels: ["name", "status", "type"],
  });
  return (type, name, isWell) => {
    last.of({ name, type }).set(isWell ? 1 : 0);
    all.of({ name, status: isWell ? "success" : "error", type }).add();
  };
}
