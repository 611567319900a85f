import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import { printLabelSelector, readSelectorObject } from "../../../base/api/selector-object.ts";
import { BoundedMemo } from "../../../base/util/memoize.ts";
import type { LabelSelector as LabelSelectorObject, Texts } from "../../../kinds/types/meta.ts";
import type { PodAffinityTerm, WeightedPodAffinityTerm } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";

/** Selects Pods, and the label that nodes of one domain have in common. Pods with the same term share it. */
export interface AffinityTerm {
  /** Says all about the term. */
  readonly key: string;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Selects further namespaces. Undefined: none. Empty: all. */
  readonly namespaceSelector: LabelSelector | undefined;
  /** Undefined: matches no Pod. */
  readonly selector: LabelSelector | undefined;
}

/** A preferred term. The weight is negative for anti-affinity. */
export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** The affinity and anti-affinity of a Pod, read once. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
}

const read = new WeakMap<Pod, AffinityTerms>();
const shared = new BoundedMemo<string, AffinityTerm>({ results: 10_000, textLength: 10_000 });

/** The terms of a Pod. */
export function affinityTermsOf(pod: Pod): AffinityTerms {
  const known = read.get(pod);
  if (known) return known;
  const { podAffinity = {}, podAntiAffinity = {} } = pod.spec?.affinity ?? {};
  const terms = (list: readonly PodAffinityTerm[] = []) => list.map((term) => readTerm(term, pod));
  const weighted = (list: readonly WeightedPodAffinityTerm[] = [], sign: 1 | -1) =>
    list.map(({ weight = 0, podAffinityTerm = {} }) => ({
      term: readTerm(podAffinityTerm, pod),
      weight: sign * weight,
    }));
  const found: AffinityTerms = {
    required: terms(podAffinity.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAnti: terms(podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: [
      ...weighted(podAffinity.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  };
  read.set(pod, found);
  return found;
}

/** kube-apiserver has merged matchLabelKeys and mismatchLabelKeys into the selector. */
function readTerm(term: PodAffinityTerm, { metadata }: Pod): AffinityTerm {
  const { topologyKey = "", labelSelector, namespaces = [], namespaceSelector } = term;
  const isOwnNamespace = namespaces.length === 0 && namespaceSelector === undefined;
  return termOf(
    topologyKey,
    isOwnNamespace ? [metadata.namespace ?? ""] : namespaces,
    readSelector(namespaceSelector),
    readSelector(labelSelector),
  );
}

const readSelector = (selector: LabelSelectorObject | undefined) =>
  selector === undefined ? undefined : readSelectorObject(selector);

function termOf(
  topologyKey: string,
  names: readonly string[],
  namespaceSelector: LabelSelector | undefined,
  selector: LabelSelector | undefined,
): AffinityTerm {
  const texts = [namespaceSelector, selector].map((one) => (one === undefined ? null : printLabelSelector(one)));
  const key = JSON.stringify([topologyKey, [...names].sort(), ...texts]);
  const known = shared.get(key);
  if (known) return known;
  const term: AffinityTerm = { key, topologyKey, namespaces: new Set(names), namespaceSelector, selector };
  shared.set(key, term);
  return term;
}

/** A term that names the namespaces that it selects, unless it selects all. Upstream: mergeAffinityTermNamespacesIfNotEmpty */
export function withNamespaces(
  term: AffinityTerm,
  select: (selector: LabelSelector) => readonly string[],
): AffinityTerm {
  const { topologyKey, namespaces, namespaceSelector, selector } = term;
  if (namespaceSelector === undefined || namespaceSelector.length === 0) return term;
  return termOf(topologyKey, [...new Set([...namespaces, ...select(namespaceSelector)])], undefined, selector);
}

/** Whether a term selects a Pod. `namespaceLabels`: of the namespace of the Pod. Absent if the term names namespaces. */
export function matchesTerm(
  { namespaces, namespaceSelector, selector }: AffinityTerm,
  { metadata: { namespace = "", labels } }: Pod,
  namespaceLabels?: Texts,
): boolean {
  if (selector === undefined) return false;
  const isSelected = () => namespaceSelector !== undefined && matchesLabels(namespaceSelector, namespaceLabels);
  return (namespaces.has(namespace) || isSelected()) && matchesLabels(selector, labels);
}

/** Whether all of the terms select a Pod. No terms select none. */
export function matchesAllTerms(terms: readonly AffinityTerm[], pod: Pod): boolean {
  return terms.length > 0 && terms.every((term) => matchesTerm(term, pod));
}

/** Whether one of the terms selects a Pod. */
export function matchesAnyTerm(terms: readonly AffinityTerm[], pod: Pod): boolean {
  return terms.some((term) => matchesTerm(term, pod));
}
