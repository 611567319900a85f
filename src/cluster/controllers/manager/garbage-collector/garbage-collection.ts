import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../base/api/api-error.ts";
import type { Json, JsonObject, KubeObject, OwnerReference } from "../../../../base/api/object.ts";
import { forEachLimited } from "../../../../base/util/for-each-limited.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { type Follower, follow } from "../../../../resources/read/follow.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { type Located, readObject, StoredKinds } from "../../../../resources/stored-kinds.ts";
import type { Entry, StoreEvent } from "../../../../storage/store.ts";
import type { Controller, ControllerContext } from "../../shared/controller.ts";
import { FOREGROUND, type GraphNode, ORPHAN, OwnerGraph } from "./owner-graph.ts";
import { type Dependent, judgeOwners, locateOwner, type Standings } from "./owner-standing.ts";

const NAME = "garbage-collector-controller";
const WORKERS = 20;

/**
 * The garbage collector: deletes objects whose owners are all gone, and processes the finalizers foregroundDeletion and
 * orphan. Every write has preconditions, so several instances may run concurrently.
 */
export class GarbageCollection implements Controller {
  readonly name: string = NAME;
  readonly #context: ControllerContext;
  #collector: Collector | undefined;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** Whether all events up to `revision` have been processed and nothing is left to do. */
  isSettled(revision: number): boolean {
    return this.#collector?.isSettled(revision) ?? false;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#context.resources;
    const collector = new Collector(this.#context);
    this.#collector = collector;
    try {
      await follow(store, keys.root, collector, signal);
    } finally {
      await collector.close();
    }
  }
}

/** One run of the garbage collector, with its graph and work queue. */
class Collector implements Follower {
  readonly #resources: Resources;
  readonly #client: ObjectClient;
  readonly #kinds: StoredKinds;
  readonly #graph: OwnerGraph;
  readonly #queue: WorkQueue<string>;
  /** Objects that cannot be judged until another kind is served. */
  readonly #parked = new Set<string>();
  readonly #unsubscribe: () => void;
  /** Work collected until the graph is complete. */
  #early: Set<string> | undefined = new Set();
  /** The graph contains everything up to this revision. */
  #revision = 0;

  constructor({ resources, client, report }: ControllerContext) {
    this.#resources = resources;
    this.#client = client;
    this.#kinds = new StoredKinds(resources);
    this.#graph = new OwnerGraph(
      resources.codec,
      (storeKey) => this.#enqueue(storeKey),
      (reference, dependentKey) => {
        const located = this.#kinds.locate(dependentKey);
        return located ? locateOwner(resources, reference, located.key.namespace) : "unknown";
      },
    );
    this.#queue = new WorkQueue({
      clock: resources.clock,
      concurrency: WORKERS,
      work: (storeKey) => this.#work(storeKey),
      onError: (error) => {
        // Another writer was faster: retried without being reported.
        if (!isConflict(error)) report(NAME, error);
      },
    });
    this.#unsubscribe = resources.catalog.subscribe(() => this.#unpark());
  }

  found(entry: Entry): void {
    this.#graph.found(entry);
  }

  loaded(revision: number): void {
    this.#revision = revision;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const storeKey of early) this.#queue.add(storeKey);
  }

  changed(events: readonly StoreEvent[], revision: number): void {
    for (const event of events) {
      this.#graph.observe(event);
      if (!event.entry) this.#parked.delete(event.key);
    }
    this.#revision = revision;
  }

  isSettled(revision: number): boolean {
    return this.#early === undefined && this.#revision >= revision && this.#queue.isIdle;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#queue.close();
  }

  #enqueue(storeKey: string): void {
    if (this.#early) this.#early.add(storeKey);
    else this.#queue.add(storeKey);
  }

  #unpark(): void {
    for (const storeKey of this.#parked) this.#enqueue(storeKey);
    this.#parked.clear();
  }

  async #work(storeKey: string): Promise<void> {
    const entry = await this.#resources.store.get(storeKey, { minRevision: this.#revision });
    const object = entry && readObject(this.#resources.codec, entry);
    if (!object) return;
    const located = this.#kinds.locate(storeKey);
    if (!located) {
      this.#parked.add(storeKey);
      return;
    }
    if (located.resource.definition.rules.garbageCollection === "unsupported") return;
    try {
      if (object.metadata.deletionTimestamp === undefined) {
        await this.#judge({ ...located, object, revision: Math.max(this.#revision, entry.modRevision) });
      } else if (entry.modRevision <= this.#revision) {
        // If the graph is older than the deletion, it may lack dependents. Then the deletion event brings the object
        // here again.
        await this.#finalize(located, object);
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** Processes the finalizers foregroundDeletion and orphan of an object that is being deleted. */
  async #finalize(located: Located, object: KubeObject): Promise<void> {
    const { uid = "", finalizers = [] } = object.metadata;
    if (finalizers.includes(ORPHAN)) {
      const dependents = this.#graph.dependentsOf(uid);
      await forEachLimited(dependents, WORKERS, (dependent) => this.#orphan(dependent, uid));
      await this.#removeFinalizer(located, object, ORPHAN);
    } else if (finalizers.includes(FOREGROUND)) {
      // Its dependents were enqueued when it started to wait. The last blocking one brings it here again.
      if (!this.#graph.isBlocked(uid)) await this.#removeFinalizer(located, object, FOREGROUND);
      else if (this.#graph.isInCircle(uid)) await this.#unblockOwners(located, object);
    }
  }

  async #orphan({ storeKey, uid }: GraphNode, ownerUid: string): Promise<void> {
    const located = this.#kinds.locate(storeKey);
    if (!located) throw new Error(`${storeKey} is of an unknown kind and cannot be orphaned`);
    const entry = await this.#resources.store.get(storeKey);
    const object = entry && readObject(this.#resources.codec, entry);
    if (object?.metadata.uid !== uid) return;
    try {
      await this.#keepOwners(located, object, (owner) => owner.uid !== ownerUid);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /**
   * Breaks a cycle of objects that wait for each other by setting blockOwnerDeletion to false. The last object to join
   * the cycle gets here when the cycle is complete.
   */
  async #unblockOwners(located: Located, object: KubeObject): Promise<void> {
    const owners = object.metadata.ownerReferences ?? [];
    const unblocked = owners.map((owner) =>
      owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
    );
    await this.#patch(located, object, "ownerReferences", unblocked);
  }

  async #removeFinalizer(located: Located, object: KubeObject, finalizer: string): Promise<void> {
    const left = object.metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
    await this.#patch(located, object, "finalizers", left);
  }

  /**
   * Deletes an object whose owners are all gone, or removes its dangling ownerReferences. Upstream:
   * `attemptToDeleteItem`.
   */
  async #judge(dependent: Dependent): Promise<void> {
    const { object } = dependent;
    if (!object.metadata.ownerReferences?.length) return;
    const sight = (uid: string, ownerKey: string) => this.#graph.sight(uid, ownerKey);
    const standings = await judgeOwners(this.#resources, dependent, sight);
    // Compat: if an ownerReference is impossible, or its kind is unknown, the object is not changed, because
    // `isDangling` fails.
    if (standings.impossible.length > 0) return;
    if (standings.unknown.length > 0) {
      this.#parked.add(this.#resources.keys.key(dependent.resource.definition, dependent.key));
      return;
    }
    if (standings.solid.length > 0) await this.#dropOthers(dependent, standings);
    else if (standings.waiting.length > 0 && this.#graph.hasDependents(object.metadata.uid ?? "")) {
      await this.#delete(dependent, "Foreground");
    } else await this.#delete(dependent, policyOf(object));
  }

  /**
   * Removes dangling references, and those to owners that wait for this object: it stays, so they would wait forever.
   */
  async #dropOthers(dependent: Dependent, { absent, waiting }: Standings): Promise<void> {
    const uids = [...absent, ...waiting].map((owner) => owner.uid);
    if (uids.length > 0) await this.#keepOwners(dependent, dependent.object, ({ uid }) => !uids.includes(uid));
  }

  async #keepOwners(located: Located, object: KubeObject, isKept: (owner: OwnerReference) => boolean): Promise<void> {
    await this.#patch(located, object, "ownerReferences", object.metadata.ownerReferences?.filter(isKept) ?? []);
  }

  /**
   * Compat: like upstream's `deleteObject`, concurrent writes that do not change ownerReferences or finalizers must not
   * prevent the deletion.
   */
  async #delete({ resource, key, object }: Dependent, propagationPolicy: PropagationPolicy): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    try {
      await this.#client.delete(resource, key, { propagationPolicy, preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const entry = await this.#resources.store.get(this.#resources.keys.key(resource.definition, key));
      const live = entry && readObject(this.#resources.codec, entry);
      if (!live || !isDeepStrictEqual(decisive(live), decisive(object))) throw error;
      await this.#client.delete(resource, key, { propagationPolicy, preconditions: { uid } });
    }
  }

  /**
   * Replaces a list of the metadata, or removes it if nothing is left. Fails with a conflict if the object has changed.
   */
  async #patch(
    { resource, key }: Located,
    { metadata: { resourceVersion } }: KubeObject,
    field: "ownerReferences" | "finalizers",
    left: readonly (string | OwnerReference)[],
  ): Promise<void> {
    const list = left.length > 0 ? (left as readonly unknown[] as Json[]) : null;
    const metadata: JsonObject = { resourceVersion, [field]: list };
    await this.#client.patch(resource, key, { metadata });
  }
}

/** The metadata that the decision to delete an object is based on. */
function decisive({ metadata: { uid, ownerReferences, finalizers } }: KubeObject) {
  return { uid, ownerReferences, finalizers };
}

type PropagationPolicy = "Background" | "Foreground" | "Orphan";

/** The propagationPolicy for the object's own dependents: according to its finalizers, else Background. */
function policyOf({ metadata }: KubeObject): PropagationPolicy {
  if (metadata.finalizers?.includes(ORPHAN)) return "Orphan";
  return metadata.finalizers?.includes(FOREGROUND) ? "Foreground" : "Background";
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404;
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409;
}
