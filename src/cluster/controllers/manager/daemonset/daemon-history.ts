import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import type { ControllerRevision, DaemonSet, Pod } from "../../../../kinds/types/workloads.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { revisionData } from "../../shared/hashes/controller-revision.ts";
import { podTemplateHash } from "../../shared/hashes/pod-template-hash.ts";
import type { Informer } from "../../shared/informer.ts";
import { controllerReference } from "../../shared/owners.ts";
import { dataOf, type RevisionHistory } from "../../shared/revisions.ts";
import { HASH_LABEL } from "./daemon-pods.ts";

/** What `DaemonHistory` works with. */
export interface DaemonHistoryOptions {
  readonly client: ObjectClient;
  readonly sets: Informer<DaemonSet>;
  readonly pods: Informer<Pod>;
  readonly history: RevisionHistory;
}

/** The ControllerRevision of the template, and those of earlier ones. */
export interface DaemonRevisions {
  readonly current: ControllerRevision;
  /** The lowest revision first. */
  readonly old: readonly ControllerRevision[];
}

/** Hash of a template in the label of its revision. */
export function hashOf({ metadata }: ControllerRevision | Pod): string {
  return metadata.labels?.[HASH_LABEL] ?? "";
}

/** Finds, creates and deletes the ControllerRevisions of DaemonSets. */
export class DaemonHistory {
  readonly #options: DaemonHistoryOptions;
  /** The text of a template, because most syncs are of the same one. */
  readonly #printed = new WeakMap<object, string>();

  constructor(options: DaemonHistoryOptions) {
    this.#options = options;
  }

  /** `podsOf`: the Pods of the set, if they are needed. */
  async find(set: DaemonSet, selector: LabelSelector, podsOf: () => Promise<Pod[]>): Promise<DaemonRevisions> {
    const { history } = this.#options;
    const data = this.#print(set);
    const equal: ControllerRevision[] = [];
    const old: ControllerRevision[] = [];
    for (const known of await history.claim(set, selector)) {
      const revision = await this.#withLabel(known);
      (dataOf(revision) === data ? equal : old).push(revision);
    }
    const number = (old.at(-1)?.revision ?? 0) + 1;
    const last = equal.at(-1);
    if (last === undefined) return { current: await this.#create(set, data, number), old };
    if (equal.length > 1) await this.#deduplicate(last, equal.slice(0, -1), await podsOf());
    if ((last.revision ?? 0) < number) await history.update({ ...last, revision: number });
    return { current: last, old };
  }

  /** Deletes the oldest revisions that no Pod has, except as many as the history may hold. */
  async cleanUp({ spec }: DaemonSet, old: readonly ControllerRevision[], pods: readonly Pod[]): Promise<void> {
    const surplus = Math.max(0, old.length - (spec.revisionHistoryLimit ?? 10));
    const live = new Set(pods.map(hashOf));
    for (const revision of old.filter((one) => !live.has(hashOf(one))).slice(0, surplus)) {
      await this.#options.history.delete(revision);
    }
  }

  #print({ spec: { template = {} } }: DaemonSet): string {
    let text = this.#printed.get(template);
    if (text === undefined) {
      text = revisionData(template, "int64");
      this.#printed.set(template, text);
    }
    return text;
  }

  async #withLabel(revision: ControllerRevision): Promise<ControllerRevision> {
    const { metadata } = revision;
    if (metadata.labels?.[HASH_LABEL] !== undefined) return revision;
    const labels = { ...metadata.labels, [HASH_LABEL]: metadata.name ?? "" };
    return this.#options.history.update({ ...revision, metadata: { ...metadata, labels } });
  }

  async #create(set: DaemonSet, data: string, revision: number): Promise<ControllerRevision> {
    const { history, sets } = this.#options;
    const { name: owner = "", namespace = "", annotations } = set.metadata;
    const template = set.spec.template ?? {};
    const hash = podTemplateHash(template, set.status?.collisionCount);
    const draft: ControllerRevision = {
      kind: "ControllerRevision",
      apiVersion: history.informer.resource.apiVersion,
      metadata: {
        name: `${owner}-${hash}`,
        namespace,
        labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
        annotations: { ...annotations },
        ownerReferences: [controllerReference(sets.resource, set)],
      },
      data: parseJsonText(data) as JsonObject,
      revision,
    };
    const created = await history.create(cloneJson(draft));
    return created ?? this.#create(await this.#countCollision(set), data, revision);
  }

  /** The next attempt uses another hash. */
  async #countCollision(set: DaemonSet): Promise<DaemonSet> {
    const { client, sets } = this.#options;
    const { status = {} } = set;
    const next = { ...set, status: { ...status, collisionCount: (status.collisionCount ?? 0) + 1 } };
    const written = await client.update(sets.resource, next, { subresource: "status" });
    await sets.sees(written.metadata.resourceVersion);
    return written as DaemonSet;
  }

  /** Keeps one of several revisions with the same data. */
  async #deduplicate(
    kept: ControllerRevision,
    others: readonly ControllerRevision[],
    pods: readonly Pod[],
  ): Promise<void> {
    const { client, history, pods: informer } = this.#options;
    const labels = { [HASH_LABEL]: hashOf(kept) };
    for (const pod of pods.filter((one) => hashOf(one) !== hashOf(kept))) {
      const { namespace = "", name = "" } = pod.metadata;
      const written = await client.patch(informer.resource, { namespace, name }, { metadata: { labels } });
      await informer.sees(written.metadata.resourceVersion);
    }
    for (const revision of others) await history.delete(revision);
  }
}
