import { cloneJson } from "../../../../base/util/clone.ts";
import type { PodResourceClaim } from "../../../../kinds/types/pod.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../shared/resource-claims.ts";

/** Names the entry of `spec.resourceClaims` that a claim was generated for. */
export const CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name";
/** Leaves space for a hyphen and 5 random characters in a name with 63 characters. */
const MAX_BASE = 57;

/** A new claim for an entry of `spec.resourceClaims`. The Pod owns it. */
export function claimFromTemplate(
  pod: Pod,
  { name: entryName = "" }: PodResourceClaim,
  template: ResourceClaimTemplate,
  apiVersion: string,
): ResourceClaim {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { metadata = {}, spec = {} } = template.spec ?? {};
  const { labels, annotations } = cloneJson({ labels: metadata.labels, annotations: metadata.annotations });
  return {
    kind: "ResourceClaim",
    apiVersion,
    metadata: {
      generateName: baseName(name, entryName),
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [CLAIM_ANNOTATION]: entryName },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec: cloneJson(spec),
  };
}

/** Compat: handleClaim shortens both parts of a long name in proportion to their lengths. */
function baseName(pod: string, entry: string): string {
  const base = `${pod}-${entry}-`;
  if (base.length <= MAX_BASE) return base;
  const shortened = (text: string) => text.slice(0, Math.floor((text.length * MAX_BASE) / base.length));
  return `${shortened(pod)}-${shortened(entry)}`;
}
