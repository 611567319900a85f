import type { MetricRegistry } from "../../../base/metrics/metrics.ts";
import type { WebhookObserver } from "../webhooks/observer.ts";

/** Compat: `ObserveWebhookRejection` truncates higher codes. */
const MAX_CODE = 600;
/** Maximum number of series per metric, because clients choose the names of webhooks. */
const LIMIT = 2000;

/** Metrics of admission webhooks, with kube-apiserver's names. */
export function admissionWebhookMetrics(registry: MetricRegistry): WebhookObserver {
  const durations = registry.histogram({
    name: "apiserver_admission_webhook_admission_duration_seconds",
    help: "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    labels: ["name", "operation", "rejected", "type"],
    bounds: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    limit: LIMIT,
  });
  const rejections = registry.counter({
    name: "apiserver_admission_webhook_rejection_count",
    help: "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["error_type", "name", "operation", "rejection_code", "type"],
    limit: LIMIT,
  });
  const openings = registry.counter({
    name: "apiserver_admission_webhook_fail_open_count",
    help: "[ALPHA] Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
    labels: ["name", "type"],
    limit: LIMIT,
  });
  const requests = registry.counter({
    name: "apiserver_admission_webhook_request_total",
    help: "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["code", "name", "operation", "rejected", "type"],
    limit: LIMIT,
  });
  const conditionLabels = ["kind", "name", "operation", "type"] as const;
  const conditionErrors = registry.counter({
    name: "apiserver_admission_match_condition_evaluation_errors_total",
    help: "[ALPHA] Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).",
    labels: conditionLabels,
    limit: LIMIT,
  });
  const exclusions = registry.counter({
    name: "apiserver_admission_match_condition_exclusions_total",
    help: "[ALPHA] Admission match condition evaluation exclusions count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).",
    labels: conditionLabels,
    limit: LIMIT,
  });
  const conditionTimes = registry.histogram({
    name: "apiserver_admission_match_condition_evaluation_seconds",
    help: "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
    labels: conditionLabels,
    bounds: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    limit: LIMIT,
  });
  return {
    called(name, type, operation, { isRejected, code, cause }, seconds) {
      const rejected = String(isRejected);
      const shown = String(Math.min(code, MAX_CODE));
      durations.of({ name, operation, rejected, type }).observe(seconds);
      requests.of({ name, operation, rejected, type, code: shown }).add();
      if (cause) rejections.of({ name, operation, type, error_type: cause, rejection_code: shown }).add();
    },
    failedOpen: (name, type) => openings.of({ name, type }).add(),
    conditionsEvaluated(name, type, operation, { errors, matches, error }, seconds) {
      const labels = { name, operation, kind: "webhook", type: type === "admit" ? "admit" : "validate" };
      conditionTimes.of(labels).observe(seconds);
      if (errors > 0) conditionErrors.of(labels).add(errors);
      if (!matches && error === undefined) exclusions.of(labels).add();
    },
  };
}
