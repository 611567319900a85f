import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import { Draft } from "../resources/model/draft.ts";
import { type Follower, follow } from "../resources/read/follow.ts";
import type { Resources } from "../resources/resources.ts";
import type { Entry, StoreEvent } from "../storage/store.ts";
import type { Controller, ReportProblem } from "./controller.ts";
import { forEachLimited } from "./for-each-limited.ts";
import { FOREGROUND, type GraphNode, ORPHAN, OwnerGraph } from "./owner-graph.ts";
import { type Dependent, judgeOwners, locateOwner, type Standings } from "./owner-standing.ts";
import { type Located, readObject, StoredKinds } from "./stored-kinds.ts";

const NAME = "garbage-collector-controller";
const WORKERS = 20;

/**
 * The garbage collector: deletes objects whose owners are all gone, and works off the finalizers foregroundDeletion and
 * orphan. Every write states what it assumes, so several may run at the same time without harm.
 */
export class GarbageCollection implements Controller {
  readonly name: string = NAME;
  readonly aliases: readonly string[] = ["garbagecollector"];
  readonly #resources: Resources;
  readonly #report: ReportProblem;
  #collector: Collector | undefined;

  constructor(resources: Resources, report: ReportProblem) {
    this.#resources = resources;
    this.#report = report;
  }

  /** Whether everything that has happened up to `revision` is known and nothing is left to be done about it. */
  isSettled(revision: number): boolean {
    return this.#collector?.isSettled(revision) ?? false;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#resources;
    const collector = new Collector(this.#resources, this.#report);
    this.#collector = collector;
    try {
      await follow(store, keys.root, collector, signal);
    } finally {
      await collector.close();
    }
  }
}

/** The assumption under which a write was decided no longer holds; the object is to be judged anew. */
class ChangedMeanwhile extends Error {}

/** One run: knows the graph and works it off. */
class Collector implements Follower {
  readonly #resources: Resources;
  readonly #kinds: StoredKinds;
  readonly #graph: OwnerGraph;
  readonly #queue: WorkQueue<string>;
  /** Objects about which nothing can be said until another kind is served. */
  readonly #parked = new Set<string>();
  readonly #unsubscribe: () => void;
  /** What to begin with, collected until the graph is complete. */
  #early: Set<string> | undefined = new Set();
  /** Everything up to this revision is in the graph. */
  #revision = 0;

  constructor(resources: Resources, report: ReportProblem) {
    this.#resources = resources;
    this.#kinds = new StoredKinds(resources);
    this.#graph = new OwnerGraph(
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
        if (!isExpected(error)) report(NAME, error);
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
    const object = entry && readObject(entry);
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
        // Were the graph older than the deletion, it might lack dependents; but then this comes again with the event.
        await this.#finalize(located, object);
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** Works off the finalizers foregroundDeletion and orphan of an object that is being deleted. */
  async #finalize(located: Located, object: KubeObject): Promise<void> {
    const { uid = "", finalizers = [] } = object.metadata;
    if (finalizers.includes(ORPHAN)) {
      const dependents = this.#graph.dependentsOf(uid);
      await forEachLimited(dependents, WORKERS, (dependent) => this.#orphan(dependent, uid));
      await this.#removeFinalizer(located, object, ORPHAN);
    } else if (finalizers.includes(FOREGROUND)) {
      // Its dependents were enqueued when it began to wait; the last of those that block it brings it here again.
      if (!this.#graph.isBlocked(uid)) await this.#removeFinalizer(located, object, FOREGROUND);
      else if (this.#graph.isInCircle(uid)) await this.#unblockOwners(located, uid);
    }
  }

  async #orphan(dependent: GraphNode, ownerUid: string): Promise<void> {
    const located = this.#kinds.locate(dependent.storeKey);
    if (!located) throw new Error(`${dependent.storeKey} is of an unknown kind and cannot be orphaned`);
    try {
      await this.#change(located, dependent.uid, (next) => dropOwners(next, [ownerUid]));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /**
   * Cuts a circle of objects that wait for each other by removing blockOwnerDeletion. The last one to join it comes
   * here with the circle complete.
   */
  async #unblockOwners(located: Located, uid: string): Promise<void> {
    await this.#change(located, uid, ({ metadata }) => {
      for (const owner of metadata.ownerReferences ?? []) {
        if (owner.blockOwnerDeletion) owner.blockOwnerDeletion = false;
      }
    });
  }

  async #removeFinalizer(located: Located, object: KubeObject, finalizer: string): Promise<void> {
    await this.#change(located, object.metadata.uid ?? "", ({ metadata }) => {
      const left = metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
      if (left.length > 0) metadata.finalizers = left;
      else delete metadata.finalizers;
    });
  }

  /**
   * Deletes an object whose owners are all gone, or drops the ownerReferences that are dangling. Upstream:
   * `attemptToDeleteItem`.
   */
  async #judge(dependent: Dependent): Promise<void> {
    const { object } = dependent;
    if (!object.metadata.ownerReferences?.length) return;
    const sight = (uid: string, ownerKey: string) => this.#graph.sight(uid, ownerKey);
    const standings = await judgeOwners(this.#resources, dependent, sight);
    // Compat: one ownerReference that cannot exist, or whose kind is not known, keeps the object as it is, since
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

  /** Owners that wait for this object have to be dropped as well, else they would wait for ever: it stays. */
  async #dropOthers(dependent: Dependent, { absent, waiting }: Standings): Promise<void> {
    const uids = [...absent, ...waiting].map((owner) => owner.uid);
    if (uids.length === 0) return;
    const { object } = dependent;
    await this.#change(dependent, object.metadata.uid ?? "", (next) => {
      requireSame(next, object, "ownerReferences");
      dropOwners(next, uids);
    });
  }

  async #delete({ resource, key, object }: Dependent, propagationPolicy: string): Promise<void> {
    const { uid } = object.metadata;
    await this.#resources.collection(resource).delete(
      resource,
      key,
      { propagationPolicy, preconditions: { uid } },
      {
        admit: async (current) => {
          requireSame(current, object, "ownerReferences");
          requireSame(current, object, "finalizers");
        },
      },
    );
  }

  async #change({ resource, key }: Located, uid: string, change: (next: KubeObject) => void): Promise<KubeObject> {
    const { view } = await this.#resources.collection(resource).update(
      resource,
      key,
      (current) => {
        if (current?.metadata.uid !== uid) throw new ChangedMeanwhile();
        change(current);
        return new Draft(current);
      },
      { uid, isPatch: true },
    );
    return view.object;
  }
}

function dropOwners({ metadata }: KubeObject, uids: readonly string[]): void {
  const left = metadata.ownerReferences?.filter((owner) => !uids.includes(owner.uid)) ?? [];
  if (left.length > 0) metadata.ownerReferences = left;
  else delete metadata.ownerReferences;
}

function requireSame(current: KubeObject, expected: KubeObject, member: "ownerReferences" | "finalizers"): void {
  if (!isDeepStrictEqual(current.metadata[member], expected.metadata[member])) throw new ChangedMeanwhile();
}

/** The propagationPolicy for the object's own dependents: as its finalizers say, else Background. */
function policyOf({ metadata }: KubeObject): string {
  if (metadata.finalizers?.includes(ORPHAN)) return "Orphan";
  return metadata.finalizers?.includes(FOREGROUND) ? "Foreground" : "Background";
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404;
}

/** Somebody else was faster: no reason to complain, only to look again. */
function isExpected(error: unknown): boolean {
  return error instanceof ChangedMeanwhile || (error instanceof ApiError && error.code === 409);
}
