import type { LabelSelector } from "../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ControllerRevision } from "../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { claimObjects } from "./claim.ts";
import { isStatus, unlessCode } from "./controller.ts";
import { printSortedJson } from "./hashes/controller-revision.ts";
import type { Index, Informer } from "./informer.ts";
import { orphanKey, ownedKey } from "./informers.ts";
import type { ManagerContext } from "./manager-context.ts";
import { byCreation } from "./order.ts";

const printed = new WeakMap<object, string>();

/** The data of a revision as text. Revisions with the same text are equal. */
export function dataOf({ data = {} }: ControllerRevision): string {
  let text = printed.get(data);
  if (text === undefined) {
    text = printSortedJson(data);
    printed.set(data, text);
  }
  return text;
}

/** Lower revisions first. */
export function byRevision(one: ControllerRevision, other: ControllerRevision): number {
  return (one.revision ?? 0) - (other.revision ?? 0) || byCreation(one, other);
}

/** The ControllerRevisions of one kind of owner. Upstream: pkg/controller/history */
export class RevisionHistory {
  readonly informer: Informer<ControllerRevision>;
  readonly #byOwner: Index<ControllerRevision>;
  readonly #context: ManagerContext;
  readonly #ownerResource: ServedResource;

  constructor(context: ManagerContext, ownerResource: ServedResource) {
    const { informer, byOwner } = context.informers.of<ControllerRevision>("apps", "controllerrevisions");
    this.informer = informer;
    this.#byOwner = byOwner;
    this.#context = context;
    this.#ownerResource = ownerResource;
  }

  /** The revisions that the owner controls, the lowest first. Adopts orphans. `accepts`: those to look at. */
  async claim(
    owner: KubeObject,
    selector: LabelSelector,
    accepts: (revision: ControllerRevision) => boolean = () => true,
  ): Promise<ControllerRevision[]> {
    const { resources, client } = this.#context;
    const { namespace, uid } = owner.metadata;
    const candidates = [...this.#byOwner.get(ownedKey(uid)), ...this.#byOwner.get(orphanKey(namespace))];
    const { informer } = this;
    const claim = { resources, client, ownerResource: this.#ownerResource, owner, selector, informer };
    return (await claimObjects(claim, candidates.filter(accepts))).sort(byRevision);
  }

  /**
   * Creates a revision. Returns the one that has its name already if the data is equal, and undefined if the name is
   * taken by another one.
   */
  async create(draft: ControllerRevision): Promise<ControllerRevision | undefined> {
    const { resources, client } = this.#context;
    const { namespace = "", name = "" } = draft.metadata;
    const data = dataOf(draft);
    try {
      const created = await client.create(this.informer.resource, draft);
      await this.informer.sees(created.metadata.resourceVersion);
      return created as ControllerRevision;
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      const existing = await resources.peek(this.informer.resource, { namespace, name });
      if (existing === undefined) throw error;
      return dataOf(existing as ControllerRevision) === data ? (existing as ControllerRevision) : undefined;
    }
  }

  async update(revision: ControllerRevision): Promise<ControllerRevision> {
    const written = await this.#context.client.update(this.informer.resource, revision);
    await this.informer.sees(written.metadata.resourceVersion);
    return written as ControllerRevision;
  }

  async delete(revision: ControllerRevision): Promise<void> {
    const { namespace = "", name = "" } = revision.metadata;
    await this.#context.client.delete(this.informer.resource, { namespace, name }).catch(unlessCode(404));
    await this.informer.changes(revision);
  }
}
