import { isDeepStrictEqual } from "node:util";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { Deployment, PodTemplateSpec, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { podTemplateHash, replicaSetName } from "../../shared/hashes/pod-template-hash.ts";
import { controllerReference } from "../../shared/owners.ts";
import { isRolling, maxSurge, sizeOf, sum } from "./limits.ts";
import { maxRevision, newestAnnotations, sizeAnnotations } from "./revisions.ts";

const HASH_LABEL = "pod-template-hash";

/** The ReplicaSet for the template of a Deployment, as it is created beside the old ones. */
export function newestSet(
  deployment: Deployment,
  old: readonly ReplicaSet[],
  setResource: ServedResource,
  deploymentResource: ServedResource,
): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const template = cloneJson(spec.template ?? {});
  const hash = podTemplateHash(template, status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const { matchLabels, ...selector } = cloneJson(spec.selector ?? {});
  const set: ReplicaSet = {
    kind: "ReplicaSet",
    apiVersion: setResource.apiVersion,
    metadata: {
      name: replicaSetName(metadata.name ?? "", hash),
      namespace: metadata.namespace ?? "",
      labels,
      ownerReferences: [controllerReference(deploymentResource, deployment)],
    },
    spec: {
      replicas: newestSize(deployment, old, 0),
      ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...selector, matchLabels: { ...matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  const annotations = newestAnnotations(deployment, set, maxRevision(old) + 1n);
  set.metadata.annotations = { ...annotations, ...sizeAnnotations(deployment) };
  return set;
}

/** The size that the newest ReplicaSet may have now, if it has `size`. */
export function newestSize(deployment: Deployment, old: readonly ReplicaSet[], size: number): number {
  const { replicas = 1 } = deployment.spec;
  if (!isRolling(deployment)) return replicas;
  const free = replicas + maxSurge(deployment) - sum(old, sizeOf) - size;
  return free <= 0 ? size : size + Math.min(free, replicas - size);
}

/** Whether two templates are the same, apart from the label that ReplicaSets add. */
export function isSameTemplate(one: PodTemplateSpec | undefined, other: PodTemplateSpec | undefined): boolean {
  return isDeepStrictEqual(withoutHash(one ?? {}), withoutHash(other ?? {}));
}

/** A template without the label that ReplicaSets add. */
export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
