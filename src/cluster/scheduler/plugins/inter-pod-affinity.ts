import type { LabelSelector } from "../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { MakePlugin } from "../plugin.ts";
import { AFFINITY_EVENTS } from "./affinity-events.ts";
import { affinityFilter } from "./affinity-filter.ts";
import { affinityScorer, termWeights } from "./affinity-score.ts";
import { type AffinityTerm, affinityTermsOf, withNamespaces } from "./affinity-terms.ts";

/** InterPodAffinityArgs of kubescheduler.config.k8s.io. */
export interface InterPodAffinityArgs {
  /** How much the required affinity of another Pod counts for the score. */
  readonly hardPodAffinityWeight?: number;
  /** Whether Pods without preferred terms get no scores. */
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

/** Default arguments of InterPodAffinity. */
export const AFFINITY_ARGS: InterPodAffinityArgs = { hardPodAffinityWeight: 1 };

/** Rejects and prefers nodes by the affinity and anti-affinity between Pods. */
export const interPodAffinity: MakePlugin<InterPodAffinityArgs> = (
  { informers, cluster },
  { hardPodAffinityWeight = 1, ignorePreferredTermsOfExistingPods = false },
) => {
  const { informer: namespaces, byLabels } = informers.of<KubeObject>("", "namespaces");
  const namespacesByLabels = byLabels();
  const weightsOf = termWeights(hardPodAffinityWeight);
  const selectNames = (selector: LabelSelector) =>
    namespacesByLabels.select("", selector).map(({ metadata }) => metadata.name ?? "");
  const resolve = (term: AffinityTerm) => withNamespaces(term, selectNames);
  const labelsOf = (namespace: string) => namespaces.get(namespace)?.metadata.labels;

  return {
    name: "InterPodAffinity",
    events: AFFINITY_EVENTS,
    uses: [namespaces],
    filter(pod) {
      const { required, requiredAnti } = affinityTermsOf(pod.pod);
      const affinity = required.map(resolve);
      const antiAffinity = requiredAnti.map(resolve);
      return affinityFilter({ pod, affinity, antiAffinity, namespaceLabels: labelsOf(pod.namespace) }, cluster);
    },
    score(pod) {
      const preferred = affinityTermsOf(pod.pod).preferred.map(({ term, weight }) => ({ term: resolve(term), weight }));
      if (preferred.length === 0 && ignorePreferredTermsOfExistingPods) return undefined;
      const preferences = { pod, preferred, namespaceLabels: labelsOf(pod.namespace), weightsOf };
      return affinityScorer(preferences, cluster.nodes, cluster.nodesWithAffinity);
    },
  };
};
