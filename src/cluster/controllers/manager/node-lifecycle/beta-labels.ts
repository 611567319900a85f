import type { Node } from "../../../../kinds/types/node.ts";

/** Deprecated labels that repeat others. */
const BETA_LABELS: Readonly<Record<string, string>> = {
  "kubernetes.io/os": "beta.kubernetes.io/os",
  "kubernetes.io/arch": "beta.kubernetes.io/arch",
};

/** The deprecated labels of a node that are missing or differ. Upstream: labelReconcileInfo */
export function missingBetaLabels({ metadata: { labels = {} } }: Node): Record<string, string> {
  const missing: Record<string, string> = {};
  for (const [label, beta] of Object.entries(BETA_LABELS)) {
    const value = labels[label];
    if (value !== undefined && labels[beta] !== value) missing[beta] = value;
  }
  return missing;
}
