import { type FeatureGateName, type FeatureGates, featureGates } from "../../base/api/feature-gates.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import { release } from "../../serving/endpoints/release.ts";

/** Metrics of the Kubernetes release and the enabled feature gates. */
export function releaseMetrics(registry: MetricRegistry, features: Pick<FeatureGates, "enabled">): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = release.info;
  registry
    .gauge<string>({
      name: "kubernetes_build_info",
      help: "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    })
    .of({
      ...{ major, minor, compiler, platform },
      git_version: gitVersion,
      git_commit: gitCommit,
      git_tree_state: gitTreeState,
      build_date: buildDate,
      go_version: goVersion,
    })
    .set(1);
  const enabled = registry.gauge<string>({
    name: "kubernetes_feature_enabled",
    help: "[BETA] This metric records the data about the stage and enablement of a k8s feature.",
  });
  for (const [name, { stage }] of Object.entries(featureGates)) {
    // Compat: `kubernetes_feature_enabled` has the stage in capitals, and an empty one for GA.
    const labels = { name, stage: stage === "GA" ? "" : stage.toUpperCase() };
    enabled.of(labels).set(features.enabled(name as FeatureGateName) ? 1 : 0);
  }
}
