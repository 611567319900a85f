import type { DaemonSet, Pod, PodTemplateSpec } from "../../../../kinds/types/workloads.ts";
import { byCreation } from "../../shared/order.ts";
import { hasFinished } from "../../shared/pods.ts";
import { daemonTolerations } from "./placement.ts";

/** Label of Pods and ControllerRevisions with the hash of the template. */
export const HASH_LABEL = "controller-revision-hash";
const GENERATION_LABEL = "pod-template-generation";
const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
const NAME_FIELD = "metadata.name";

/** The count of template changes, which apps/v1 shows as an annotation. */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[GENERATION_ANNOTATION];
  return text !== undefined && /^[+-]?\d+$/.test(text) ? String(BigInt(text)) : undefined;
}

/** Whether a Pod has the template of its DaemonSet. `hash`: that of the template. */
export function isUpdated(set: DaemonSet, { metadata: { labels = {} } }: Pod, hash: string): boolean {
  const generation = templateGeneration(set);
  return (
    (hash !== "" && labels[HASH_LABEL] === hash) ||
    (generation !== undefined && labels[GENERATION_LABEL] === generation)
  );
}

/** The template of the Pod for one node. The scheduler binds it by its node affinity. */
export function templateFor(set: DaemonSet, hash: string, node: string): PodTemplateSpec {
  const { metadata, spec = {} } = set.spec.template ?? {};
  const generation = templateGeneration(set);
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const term = { matchFields: [{ key: NAME_FIELD, operator: "In", values: [node] }] };
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
        ...(hash !== "" && { [HASH_LABEL]: hash }),
      },
    },
    spec: {
      ...spec,
      tolerations: daemonTolerations(spec),
      affinity: {
        ...spec.affinity,
        nodeAffinity: {
          ...spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { ...required, nodeSelectorTerms: [term] },
        },
      },
    },
  };
}

/** The node of a Pod, or the one that it is made for. */
function targetNode({ spec = {} }: Pod): string | undefined {
  if ((spec.nodeName ?? "") !== "") return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const field = matchFields.find(({ key, operator }) => key === NAME_FIELD && operator === "In");
    if (field) return field.values?.length === 1 ? field.values[0] : undefined;
  }
  return undefined;
}

/** Pods by node. Pods that have finished and are being deleted only count for the history. */
export function byNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const result = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = hasFinished(pod) && pod.metadata.deletionTimestamp !== undefined ? undefined : targetNode(pod);
    if (node === undefined) continue;
    const known = result.get(node);
    if (known) known.push(pod);
    else result.set(node, [pod]);
  }
  return result;
}

/** Scheduled Pods first, then the older ones. */
export function bySeniority(one: Pod, other: Pod): number {
  const isPending = ({ spec }: Pod) => Number((spec?.nodeName ?? "") === "");
  return isPending(one) - isPending(other) || byCreation(one, other);
}
