import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { ReportProblem } from "./controller.ts";
import { type Index, Informer } from "./informer.ts";
import { controllerOf } from "./owners.ts";
import { LabelIndex } from "./selection.ts";

/** An informer with the indexes that most controllers need. */
export interface IndexedInformer<T extends KubeObject> {
  readonly informer: Informer<T>;
  readonly byNamespace: Index<T>;
  /** By `ownedKey` or `orphanKey`. */
  readonly byOwner: Index<T>;
  /** Finds objects by their labels. The first call creates the index. */
  byLabels(): LabelIndex<T>;
}

/** The informers that the controllers of one server share: one watch per kind. */
export class Informers {
  readonly #resources: Resources;
  readonly #report: ReportProblem;
  readonly #known = new Map<ResourceDefinition, IndexedInformer<KubeObject>>();

  constructor(resources: Resources, report: ReportProblem) {
    this.#resources = resources;
    this.#report = report;
  }

  /** The informer of a built-in kind. `T` is the type of its objects. */
  of<T extends KubeObject>(group: string, plural: string): IndexedInformer<T> {
    const resource = storedResource(this.#resources.catalog, group, plural);
    let known = this.#known.get(resource.definition);
    if (known === undefined) {
      const informer = new Informer(this.#resources, resource, this.#report);
      let labels: LabelIndex<KubeObject> | undefined;
      known = {
        informer,
        byNamespace: informer.index(({ metadata }) => [metadata.namespace ?? ""]),
        byOwner: informer.index(ownerKeys),
        byLabels: () => {
          labels ??= informer.fill(new LabelIndex());
          return labels;
        },
      };
      this.#known.set(resource.definition, known);
    }
    return known as unknown as IndexedInformer<T>;
  }
}

/** Finds the objects that this uid controls. */
export const ownedKey = (uid: string | undefined): string => `uid/${uid}`;
/** Finds the objects of a namespace without a controller. */
export const orphanKey = (namespace: string | undefined): string => `namespace/${namespace}`;

function ownerKeys(object: KubeObject): string[] {
  const owner = controllerOf(object);
  return [owner === undefined ? orphanKey(object.metadata.namespace) : ownedKey(owner.uid)];
}
