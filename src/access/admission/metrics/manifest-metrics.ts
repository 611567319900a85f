import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { apiServerId } from "../../../base/api/api-server-id.ts";
import type { MetricRegistry } from "../../../base/metrics/metrics.ts";

const PREFIX = "apiserver_manifest_admission_config_controller";

/** Receives the results of loading admission manifests. */
export interface ManifestObserver {
  read(plugin: string, hash: string): void;
  failed(plugin: string): void;
}

/** Metrics of loading admission manifests, with kube-apiserver's names. */
export function manifestMetrics(registry: MetricRegistry, clock: { now(): number }): ManifestObserver {
  const labels = ["apiserver_id_hash", "plugin", "status"] as const;
  const reloads = registry.counter({
    name: `${PREFIX}_automatic_reloads_total`,
    help: "[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.",
    labels,
  });
  const times = registry.gauge({
    name: `${PREFIX}_automatic_reload_last_timestamp_seconds`,
    help: "[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.",
    labels,
  });
  const hashes = new Map<string, string>();
  const apiserver_id_hash = `sha256:${createHash("sha256").update(apiServerId(hostname())).digest("hex")}`;
  registry.measured(
    "gauge",
    {
      name: `${PREFIX}_last_config_info`,
      help: "[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.",
      labels: ["apiserver_id_hash", "hash", "plugin"] as const,
    },
    () => [...hashes].map(([plugin, hash]) => ({ labels: { apiserver_id_hash, hash, plugin }, value: 1 })),
  );
  const ended = (plugin: string, status: "success" | "failure") => {
    reloads.of({ apiserver_id_hash, plugin, status }).add();
    times.of({ apiserver_id_hash, plugin, status }).set(clock.now() / 1000);
  };
  return {
    read(plugin, hash) {
      hashes.set(plugin, hash);
      ended(plugin, "success");
    },
    failed: (plugin) => ended(plugin, "failure"),
  };
}
