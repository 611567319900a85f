import type { LabelSelector } from "../../../base/api/label-selector.ts";
import type { Json, KubeObject } from "../../../base/api/object.ts";
import { readLabelMap, readSelectorObject } from "../../../base/api/selector-object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Service } from "../../../kinds/types/service.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { Informer } from "../../controllers/shared/informer.ts";
import type { Informers } from "../../controllers/shared/informers.ts";
import { controllerOf } from "../../controllers/shared/owners.ts";
import { SelectorIndex } from "../../controllers/shared/selection.ts";

/** How a controller of Pods selects them. */
interface ControllerKind {
  readonly group: string;
  readonly plural: string;
  readonly read: (selector: Json | undefined) => LabelSelector | undefined;
}

/** By apiVersion and kind of an owner reference. */
const CONTROLLERS: Readonly<Record<string, ControllerKind>> = {
  "v1 ReplicationController": { group: "", plural: "replicationcontrollers", read: readLabelMap },
  "apps/v1 ReplicaSet": { group: "apps", plural: "replicasets", read: readSelectorObject },
  "apps/v1 StatefulSet": { group: "apps", plural: "statefulsets", read: readSelectorObject },
};

/** Selects the Pods that belong together with a Pod. */
export interface DefaultSelector {
  readonly uses: readonly Informer[];
  /** Empty if the Pod belongs to no Service and no controller. */
  of(pod: Pod): LabelSelector;
}

/** One for all runs of the scheduler, because an index cannot be taken from an informer. */
const known = new WeakMap<Informers, DefaultSelector>();

/** Reads selectors of Services, ReplicationControllers, ReplicaSets and StatefulSets. Upstream: DefaultSelector */
export function defaultSelector(informers: Informers): DefaultSelector {
  const selector = known.get(informers) ?? makeSelector(informers);
  known.set(informers, selector);
  return selector;
}

function makeSelector(informers: Informers): DefaultSelector {
  const { informer: services } = informers.of<Service>("", "services");
  const selecting = services.fill(
    new SelectorIndex<Service>(({ spec }) => (spec?.selector ? readLabelMap(spec.selector) : undefined)),
  );
  const controllers = Object.values(CONTROLLERS).map(({ group, plural }) => informers.of(group, plural).informer);

  const ofController = (pod: Pod): LabelSelector => {
    const owner = controllerOf(pod);
    const kind = owner && getMember(CONTROLLERS, `${owner.apiVersion} ${owner.kind}`);
    if (kind === undefined) return [];
    const { informer } = informers.of<Selecting>(kind.group, kind.plural);
    const controller = informer.get(`${pod.metadata.namespace}/${owner?.name}`);
    return controller?.spec?.selector ? (kind.read(controller.spec.selector) ?? []) : [];
  };

  return {
    uses: [services, ...controllers],
    of(pod) {
      const { namespace = "", labels } = pod.metadata;
      const ofServices = {};
      for (const { spec } of selecting.matching(namespace, labels)) Object.assign(ofServices, spec?.selector);
      return [...readLabelMap(ofServices), ...ofController(pod)];
    },
  };
}

interface Selecting extends KubeObject {
  readonly spec?: { readonly selector?: Json };
}
