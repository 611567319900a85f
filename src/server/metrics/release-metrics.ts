import { type FeatureGateName, type FeatureGates, featureGates } from "../../api/feature-gates.ts";
import type { MetricRegistry } from "../../lib/metrics.ts";
import { release } from "../release.ts";

/** What is served: the release that this server behaves like, and which feature gates are on. */
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
    // Compat: `kubernetes_feature_enabled` has a stage in capitals, and GA as nothing.
    const labels = { name, stage: stage === "GA" ? "" : stage.toUpperCase() };
    enabled.of(labels).set(features.enabled(name as FeatureGateName) ? 1 : 0);
  }
}
