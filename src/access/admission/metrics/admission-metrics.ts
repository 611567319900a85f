import type { MetricRegistry } from "../../../base/metrics/metrics.ts";
import type { AdmissionObserver, AdmissionStep } from "../chain.ts";
import type { AdmissionRequest } from "../plugin.ts";

const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5] as const;
const OPERATIONS: readonly AdmissionRequest["operation"][] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
const STEP_LABELS = ["operation", "rejected", "type"] as const;

/** Metrics of admission duration per plugin and phase, with kube-apiserver's names. */
export function admissionMetrics(registry: MetricRegistry): AdmissionObserver {
  const plugins = registry.histogram({
    name: "apiserver_admission_controller_admission_duration_seconds",
    help: "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    labels: ["name", ...STEP_LABELS],
    bounds: BOUNDS,
  });
  const steps = registry.histogram({
    name: "apiserver_admission_step_admission_duration_seconds",
    help: "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).",
    labels: STEP_LABELS,
    bounds: BOUNDS,
  });
  const known = new Map<string, { observe(seconds: number): void }[]>();
  /** The number of plugins, operations and phases is small, and clients cannot add any. */
  const seriesOf = (
    name: string,
    type: AdmissionStep,
    operation: AdmissionRequest["operation"],
    isRejected: boolean,
  ) => {
    let own = known.get(name);
    if (own === undefined) {
      own = [];
      known.set(name, own);
    }
    const place = OPERATIONS.indexOf(operation) * 4 + (type === "admit" ? 0 : 2) + (isRejected ? 1 : 0);
    let series = own[place];
    if (series === undefined) {
      const labels = { operation, rejected: String(isRejected), type };
      series = name === "" ? steps.of(labels) : plugins.of({ ...labels, name });
      own[place] = series;
    }
    return series;
  };
  return {
    pluginEnded: (name, type, operation, isRejected, seconds) =>
      seriesOf(name, type, operation, isRejected).observe(seconds),
    stepEnded: (type, operation, isRejected, seconds) => seriesOf("", type, operation, isRejected).observe(seconds),
  };
}
