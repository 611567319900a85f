import type { TokenCacheObserver } from "../../access/authentication/token-cache.ts";
import { keptPer } from "../../base/metrics/kept-series.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { AuthenticationObserver } from "../pipeline/authenticate.ts";

const LATENCY_BOUNDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
const CACHE_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** User names that may be a label value. Compat: `compressUsername`. */
const KNOWN_USERS = ["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"];

/** Counts authentication results under kube-apiserver's metric names. No label contains a user name or token. */
export function authenticationMetrics(
  registry: MetricRegistry,
): Pick<AuthenticationObserver, "authenticated"> & TokenCacheObserver {
  const users = registry.counter({
    name: "authenticated_user_requests",
    help: "[ALPHA] Counter of authenticated requests broken out by username.",
    labels: ["username"],
  });
  const attempts = registry.counter({
    name: "authentication_attempts",
    help: "[ALPHA] Counter of authenticated attempts.",
    labels: ["result"],
  });
  const durations = registry.histogram({
    name: "authentication_duration_seconds",
    help: "[ALPHA] Authentication duration in seconds broken out by result.",
    labels: ["result"],
    bounds: LATENCY_BOUNDS,
  });
  const byUser = keptPer((username) => users.of({ username }));
  const byResult = keptPer((result) => ({ attempts: attempts.of({ result }), durations: durations.of({ result }) }));
  return {
    ...tokenCacheMetrics(registry),
    authenticated(result, name, seconds) {
      if (result === "success") byUser(titleOf(name)).add();
      const series = byResult(result);
      series.attempts.add();
      series.durations.observe(seconds);
    },
  };
}

function titleOf(name: string): string {
  if (KNOWN_USERS.includes(name)) return name;
  return name.includes("@") ? "email_id" : "other";
}

function tokenCacheMetrics(registry: MetricRegistry): TokenCacheObserver {
  const labels = ["status"] as const;
  const requests = registry.counter({ name: "authentication_token_cache_request_total", help: "[ALPHA] ", labels });
  const durations = registry.histogram({
    name: "authentication_token_cache_request_duration_seconds",
    help: "[ALPHA] ",
    labels,
    bounds: CACHE_BOUNDS,
  });
  const fetches = registry.counter({ name: "authentication_token_cache_fetch_total", help: "[ALPHA] ", labels });
  const active = registry.gauge({ name: "authentication_token_cache_active_fetch_count", help: "[ALPHA] ", labels });
  const byStatus = keptPer((status) => ({ requests: requests.of({ status }), durations: durations.of({ status }) }));
  const inFlight = active.of({ status: "in_flight" });
  return {
    requested(isHit, seconds) {
      const series = byStatus(isHit ? "hit" : "miss");
      series.requests.add();
      series.durations.observe(seconds);
    },
    fetching(change, isOk) {
      inFlight.add(change);
      if (change === -1) fetches.of({ status: isOk === true ? "ok" : "error" }).add();
    },
  };
}
