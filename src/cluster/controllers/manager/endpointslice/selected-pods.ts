import { isDeepStrictEqual } from "node:util";
import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import { readLabelMap } from "../../../../base/api/selector-object.ts";
import type { Service } from "../../../../kinds/types/service.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import type { Informers } from "../../shared/informers.ts";
import { type Queue, type Source, source } from "../../shared/loop.ts";
import { isReady } from "../../shared/pods.ts";
import { SelectorIndex } from "../../shared/selection.ts";

/** The selector of a Service. Undefined if it has none. An empty one is none, because protobuf has no empty maps. */
export function selectorOf({ spec }: Service): LabelSelector | undefined {
  const selector = readLabelMap(spec?.selector);
  return selector.length === 0 ? undefined : selector;
}

/** The Pods that Services select, in both directions. */
export interface SelectedPods {
  /** Adds the Services to the queue whose endpoints a change of a Pod may affect. */
  readonly source: Source;
  podsOf(service: Service): Pod[];
}

/** Connects Services with the Pods that they select. */
export function selectedPods(informers: Informers): SelectedPods {
  const { informer: services } = informers.of<Service>("", "services");
  const { informer: pods, byLabels } = informers.of<Pod>("", "pods");
  const selecting = services.fill(new SelectorIndex<Service>(selectorOf));
  const podsByLabels = byLabels();

  const keysFor = ({ metadata: { namespace = "", labels } }: Pod) =>
    new Set([...selecting.matching(namespace, labels)].map(keyOf));

  const observe =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      for (const key of affectedBy(before, after, keysFor)) queue.add(key);
    };

  return {
    source: source(pods, observe),
    podsOf(service) {
      const selector = selectorOf(service);
      return selector === undefined ? [] : podsByLabels.select(service.metadata.namespace ?? "", selector);
    },
  };
}

/** Upstream: GetPodUpdateProjectionKey and determineNeededServiceUpdates */
function affectedBy(
  before: Pod | undefined,
  after: Pod | undefined,
  keysFor: (pod: Pod) => Set<string>,
): Iterable<string> {
  const pod = after ?? before;
  if (pod === undefined) return [];
  if (before === undefined || after === undefined) return keysFor(pod);
  const isChanged = hasOtherEndpoint(before, after);
  if (isDeepStrictEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}))
    return isChanged ? keysFor(pod) : [];
  const [old, current] = [keysFor(before), keysFor(after)];
  const all = [...new Set([...old, ...current])];
  return isChanged ? all : all.filter((key) => old.has(key) !== current.has(key));
}

/** Compat: like `podEndpointsChanged`, this ignores the phase. */
function hasOtherEndpoint(before: Pod, after: Pod): boolean {
  const isLeaving = before.metadata.deletionTimestamp !== undefined || after.metadata.deletionTimestamp !== undefined;
  const addresses = ({ status }: Pod) => (status?.podIPs ?? []).map(({ ip }) => ip).join();
  return isLeaving || isReady(before) !== isReady(after) || addresses(before) !== addresses(after);
}
