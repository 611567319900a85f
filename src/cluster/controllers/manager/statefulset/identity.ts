import type { Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";

/** Label of a Pod with the name of its ControllerRevision. */
export const REVISION_LABEL = "controller-revision-hash";
const NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const INDEX_LABEL = "apps.kubernetes.io/pod-index";
const MAX_ORDINAL = 2 ** 31 - 1;

/** Splits the name of a Pod into that of its StatefulSet and its ordinal. The ordinal is -1 if there is none. */
function splitName({ metadata: { name = "" } }: Pod): { parent: string; ordinal: number } {
  const at = name.lastIndexOf("-");
  const digits = name.slice(at + 1);
  if (at < 0 || !/^[0-9]+$/.test(digits)) return { parent: "", ordinal: -1 };
  const ordinal = Number(digits);
  return { parent: name.slice(0, at), ordinal: ordinal <= MAX_ORDINAL ? ordinal : -1 };
}

/** The number at the end of a Pod's name, or -1. */
export function ordinalOf(pod: Pod): number {
  return splitName(pod).ordinal;
}

/** Whether a Pod is named after a StatefulSet. */
export function isMember({ metadata }: StatefulSet, pod: Pod): boolean {
  return splitName(pod).parent === metadata.name;
}

/** `spec.replicas`. */
export function sizeOf({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

/** The first ordinal. */
export function startOf({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

/** Whether a Pod has one of the ordinals that `spec.replicas` asks for. */
export function isInRange(set: StatefulSet, pod: Pod): boolean {
  const index = ordinalOf(pod) - startOf(set);
  return index >= 0 && index < sizeOf(set);
}

/** The name of the Pod with an ordinal. */
export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** Name of a Pod's ControllerRevision. */
export function revisionOf({ metadata }: Pod): string {
  return metadata.labels?.[REVISION_LABEL] ?? "";
}

/** Whether the name and labels of a Pod are those of its ordinal. */
export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  const { name, namespace, labels } = pod.metadata;
  const ordinal = ordinalOf(pod);
  return (
    ordinal >= 0 &&
    name === podName(set, ordinal) &&
    namespace === set.metadata.namespace &&
    labels?.[NAME_LABEL] === name
  );
}

/** The Pod with the name and labels of an ordinal. */
export function withIdentity(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const { namespace = "" } = set.metadata;
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata.labels, [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal) };
  return { ...pod, metadata: { ...pod.metadata, name, namespace, labels } };
}
