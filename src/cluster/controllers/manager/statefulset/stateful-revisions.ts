import { isObject, type JsonObject } from "../../../../base/api/object.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import { strategicMerge } from "../../../../data/patch/strategic-merge.ts";
import { decodeBySchema } from "../../../../data/schema/decode.ts";
import type { ControllerRevision, Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { Resources } from "../../../../resources/resources.ts";
import {
  controllerRevisionHash,
  controllerRevisionName,
  revisionData,
} from "../../shared/hashes/controller-revision.ts";
import { controllerReference } from "../../shared/owners.ts";
import { dataOf, type RevisionHistory } from "../../shared/revisions.ts";
import { revisionOf } from "./identity.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

/** The revisions of a StatefulSet between which its Pods are. */
export interface Revisions {
  /** Of Pods that have not been updated. */
  readonly current: ControllerRevision;
  /** Of the template in the spec. */
  readonly update: ControllerRevision;
  readonly collisionCount: number;
}

/** Finds and creates the ControllerRevisions of StatefulSets. */
export class StatefulRevisions {
  readonly #resources: Resources;
  readonly #resource: ServedResource;
  readonly #history: RevisionHistory;
  /** The text of a template, because most syncs are of the same one. */
  readonly #printed = new WeakMap<object, string>();
  /** The text to which the data of a revision leads. */
  readonly #restored = new WeakMap<object, string>();

  constructor(resources: Resources, resource: ServedResource, history: RevisionHistory) {
    this.#resources = resources;
    this.#resource = resource;
    this.#history = history;
  }

  /** Finds the revisions among the known ones, which are sorted, or creates them. */
  async find(set: StatefulSet, known: readonly ControllerRevision[]): Promise<Revisions> {
    const { collisionCount = 0, currentRevision } = set.status ?? {};
    const { revision: update, collisions } = await this.#findUpdate(set, known, collisionCount);
    const current = known.find(({ metadata }) => metadata.name === currentRevision) ?? update;
    return { current, update, collisionCount: collisionCount + collisions };
  }

  async #findUpdate(
    set: StatefulSet,
    known: readonly ControllerRevision[],
    collisionCount: number,
  ): Promise<{ revision: ControllerRevision; collisions: number }> {
    const data = this.#print(set);
    const last = known.at(-1);
    const equal = known.findLast((revision) => dataOf(revision) === data);
    if (last && equal === last) return { revision: last, collisions: 0 };
    const number = (last?.revision ?? 0) + 1;
    if (equal) return { revision: await this.#history.update({ ...equal, revision: number }), collisions: 0 };
    if (last && this.#restores(set, last, data)) return { revision: last, collisions: 0 };
    const draft = this.#draft(set, data, number, collisionCount);
    for (let collisions = 0; ; collisions++) {
      const hash = controllerRevisionHash(data, collisionCount + collisions);
      const name = controllerRevisionName(set.metadata.name ?? "", hash);
      const created = await this.#history.create(cloneJson({ ...draft, metadata: { ...draft.metadata, name } }));
      if (created) return { revision: created, collisions };
    }
  }

  #draft(set: StatefulSet, data: string, revision: number, collisionCount: number): ControllerRevision {
    const { namespace = "", annotations } = set.metadata;
    const labels = set.spec.template?.metadata?.labels;
    return {
      kind: "ControllerRevision",
      apiVersion: this.#history.informer.resource.apiVersion,
      metadata: {
        namespace,
        labels: { ...labels, [HASH_LABEL]: controllerRevisionHash(data, collisionCount) },
        annotations: { ...annotations },
        ownerReferences: [controllerReference(this.#resource, set)],
      },
      data: parseJsonText(data) as JsonObject,
      revision,
    };
  }

  #print({ spec: { template = {} } }: StatefulSet): string {
    let text = this.#printed.get(template);
    if (text === undefined) {
      text = revisionData(template, "float64");
      this.#printed.set(template, text);
    }
    return text;
  }

  /**
   * Whether the revision leads to the template of the set, although it lacks defaults of this version.
   * Upstream: setMatchesLatestExistingRevision (gate StatefulSetSemanticRevisionComparison)
   */
  #restores(set: StatefulSet, revision: ControllerRevision, data: string): boolean {
    const { data: patch = {} } = revision;
    if (this.#restored.get(patch) === data) return true;
    const { definition, apiVersion, version } = this.#resource;
    const restored = decodeBySchema(cloneJson(this.apply(set, revision)), version.schema()).value as StatefulSet;
    definition.hooks?.setDefaults?.(restored, apiVersion, this.#resources);
    const text = revisionData(restored.spec.template ?? {}, "float64");
    this.#restored.set(patch, text);
    return text === data;
  }

  /** The StatefulSet with the spec of a revision. */
  apply(set: StatefulSet, revision: ControllerRevision): StatefulSet {
    if (dataOf(revision) === this.#print(set)) return set;
    const { spec } = strategicMerge(set, revision.data ?? {}, this.#resource.version.schema());
    return { ...set, spec: isObject(spec) ? spec : {} };
  }

  /** Deletes the oldest revisions that no Pod has, except as many as the history may hold. */
  async truncate(
    set: StatefulSet,
    known: readonly ControllerRevision[],
    { current, update }: Revisions,
    pods: readonly Pod[],
  ): Promise<void> {
    const { revisionHistoryLimit = 10 } = set.spec;
    const live = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)]);
    const old = known.filter(({ metadata }) => !live.has(metadata.name));
    if (revisionHistoryLimit < 0) return;
    for (const revision of old.slice(0, Math.max(0, old.length - revisionHistoryLimit))) {
      await this.#history.delete(revision);
    }
  }
}
