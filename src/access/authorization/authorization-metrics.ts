import type { Decision } from "../../base/api/attributes.ts";
import { keptPer } from "../../base/metrics/kept-series.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { NamedAuthorizer } from "./chain.ts";
import type { WebhookObserver } from "./configuration/webhook.ts";

const LATENCY_BOUNDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
const WEBHOOK_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Metrics of webhook authorizers. Their names come from the configuration, never from a client. */
export function webhookMetrics(registry: MetricRegistry): WebhookObserver {
  const labels = ["name", "result"] as const;
  const evaluations = registry.counter({
    name: "apiserver_authorization_webhook_evaluations_total",
    help: "[ALPHA] Round-trips to authorization webhooks.",
    labels,
  });
  const durations = registry.histogram({
    name: "apiserver_authorization_webhook_duration_seconds",
    help: "[ALPHA] Request latency in seconds.",
    labels,
    bounds: WEBHOOK_BOUNDS,
  });
  const failOpen = registry.counter({
    name: "apiserver_authorization_webhook_evaluations_fail_open_total",
    help: "[ALPHA] NoOpinion results due to webhook timeout or error.",
    labels,
  });
  return {
    attempted(name, result, seconds) {
      evaluations.of({ name, result }).add();
      durations.of({ name, result }).observe(seconds);
    },
    failedOpen: (name, result) => failOpen.of({ name, result }).add(),
  };
}

/** Receives authorization decisions. */
export interface AuthorizationObserver {
  /** Called when one authorizer allowed or denied a request. */
  decided(authorizer: NamedAuthorizer, decision: "allow" | "deny"): void;
  /** Called with the final decision on a request. */
  authorized(decision: Decision, seconds: number): void;
}

const LABELS = { allow: "allowed", deny: "denied", noOpinion: "no-opinion" } as const;

/** Metrics of decisions, with kube-apiserver's names. */
export function authorizationMetrics(registry: MetricRegistry): AuthorizationObserver {
  const decisions = registry.counter({
    name: "apiserver_authorization_decisions_total",
    help: "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.",
    labels: ["decision", "name", "type"],
  });
  const attempts = registry.counter({
    name: "authorization_attempts_total",
    help: "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
    labels: ["result"],
  });
  const durations = registry.histogram({
    name: "authorization_duration_seconds",
    help: "[ALPHA] Authorization duration in seconds broken out by result.",
    labels: ["result"],
    bounds: LATENCY_BOUNDS,
  });
  const resultOf = keptPer((result) => ({
    attempts: attempts.of({ result }),
    durations: durations.of({ result }),
  }));
  const allowedBy = keptPer((name) => keptPer((type) => decisions.of({ decision: "allowed", name, type })));
  const deniedBy = keptPer((name) => keptPer((type) => decisions.of({ decision: "denied", name, type })));
  return {
    decided: ({ name, type }, decision) => (decision === "allow" ? allowedBy : deniedBy)(name)(type).add(),
    authorized({ decision, error }, seconds) {
      const result = decision !== "allow" && error !== undefined ? "error" : LABELS[decision];
      const series = resultOf(result);
      series.attempts.add();
      series.durations.observe(seconds);
    },
  };
}
