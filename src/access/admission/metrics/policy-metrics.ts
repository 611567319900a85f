import type { MetricRegistry } from "../../../base/metrics/metrics.ts";
import type { PolicyObserver } from "../policies/observer.ts";

/** Maximum number of series per metric, because clients choose the names of policies and bindings. */
const LIMIT = 2000;
const BOUNDS = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Metrics of admission policies, with kube-apiserver's names. */
export function policyMetrics(registry: MetricRegistry): PolicyObserver {
  const validating = ["enforcement_action", "error_type", "policy", "policy_binding"] as const;
  const checks = registry.counter({
    name: "apiserver_validating_admission_policy_check_total",
    help: "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
    labels: validating,
    limit: LIMIT,
  });
  const checkTimes = registry.histogram({
    name: "apiserver_validating_admission_policy_check_duration_seconds",
    help: "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.",
    labels: validating,
    bounds: BOUNDS,
    limit: LIMIT,
  });
  const mutating = ["error_type", "policy", "policy_binding"] as const;
  const mutations = registry.counter({
    name: "apiserver_mutating_admission_policy_check_total",
    help: "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.",
    labels: mutating,
    limit: LIMIT,
  });
  const mutationTimes = registry.histogram({
    name: "apiserver_mutating_admission_policy_check_duration_seconds",
    help: "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.",
    labels: mutating,
    bounds: BOUNDS,
    limit: LIMIT,
  });
  return {
    validated(policy, policy_binding, enforcement_action, error_type, seconds) {
      const labels = { enforcement_action, error_type, policy, policy_binding };
      checks.of(labels).add();
      checkTimes.of(labels).observe(seconds);
    },
    mutated(policy, policy_binding, error_type, seconds) {
      const labels = { error_type, policy, policy_binding };
      mutations.of(labels).add();
      mutationTimes.of(labels).observe(seconds);
    },
  };
}
