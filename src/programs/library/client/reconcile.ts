import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../../../base/api/api-error.ts";
import { groupOf, type OwnerReference } from "../../../base/api/object.ts";
import { WorkQueue } from "../../../base/util/work-queue.ts";
import type { KindReference, UntypedInput, UntypedObject } from "../kind-types.ts";
import type { ClientOptions, InformerChange, KindClient, Stored } from "./client-types.ts";
import type { Connection } from "./connection.ts";
import { keyOf, startInformer, type WatchedObjects } from "./informer.ts";
import type {
  ReconcileContext,
  ReconcileFunction,
  ReconcileOptions,
  ReconcileResult,
  Reconciler,
  ReconcilerSettleOptions,
} from "./reconcile-types.ts";

/** Creates the clients of a reconciler. */
export type MakeClient = <Item extends Stored = UntypedObject, Input = UntypedInput>(
  kind: KindReference<Item, Input>,
  options: ClientOptions,
) => KindClient<Item, Input>;

/** Calls a function for the objects of a kind whenever they change. */
export class KindReconciler<Item extends Stored> implements Reconciler {
  readonly #kind: KindReference<Item, unknown>;
  readonly #reconcile: ReconcileFunction<Item>;
  readonly #options: ReconcileOptions<Item>;
  readonly #makeClient: MakeClient;
  readonly #client: KindClient<Item, unknown>;
  readonly #objects: WatchedObjects<Item>;
  readonly #informers: readonly Pick<WatchedObjects<Item>, "isCurrent" | "close" | "ended">[];
  readonly #queue: WorkQueue<string>;
  /** The last errors of objects that wait for a retry. */
  readonly #errors = new Map<string, unknown>();
  readonly #stop = new AbortController();

  constructor(
    { clock, log }: Pick<Connection, "clock" | "log">,
    makeClient: MakeClient,
    kind: KindReference<Item, unknown>,
    reconcile: ReconcileFunction<Item>,
    options: ReconcileOptions<Item>,
  ) {
    this.#kind = kind;
    this.#reconcile = reconcile;
    this.#options = options;
    this.#makeClient = makeClient;
    this.#client = this.#clientOf(kind);
    const failed = (error: unknown) => log.warn("watching objects failed, retrying", { err: error, kind: kind.kind });
    const report = (error: unknown, key: string) =>
      log.error("reconciling failed, it will be retried", { err: error, kind: kind.kind, object: key });
    const { concurrency = 1, minBackoffMs, maxBackoffMs, onError = report } = options;
    this.#queue = new WorkQueue<string>({
      ...{ clock, concurrency, minBackoffMs, maxBackoffMs },
      work: (key) => this.#work(key),
      onError: (error, key) => {
        this.#errors.set(key, error);
        if (isConflict(error)) return;
        try {
          onError(error, key);
        } catch (failure) {
          report(failure, key);
        }
      },
    });
    const { namespace, labelSelector, fieldSelector, owns = [] } = options;
    const place = namespace === undefined ? { allNamespaces: true } : { namespace };
    const context = { clock, namespace: "" };
    this.#objects = startInformer(this.#client, { ...place, labelSelector, fieldSelector }, context, failed);
    this.#objects.subscribe(({ object }) => this.#queue.add(keyOf(object.metadata)));
    const owned = owns.map((one) => startInformer(this.#clientOf(one), place, context, failed));
    for (const informer of owned) informer.subscribe((change) => this.#ownedChanged(change));
    this.#informers = [this.#objects, ...owned];
  }

  /** Resolves when the reconciler is closed. */
  get ended(): Promise<unknown> {
    return Promise.all(this.#informers.map((informer) => informer.ended));
  }

  async settled({ withinMs = 10_000 }: ReconcilerSettleOptions = {}): Promise<void> {
    const late = AbortSignal.timeout(withinMs);
    const tooLate = new Promise<never>((_, reject) => {
      late.addEventListener("abort", () => reject(this.#restless(withinMs)), { once: true });
    });
    tooLate.catch(() => {});
    while (!this.#stop.signal.aborted) {
      await Promise.race([this.#queue.settled(), tooLate]);
      const areCurrent = await Promise.all(this.#informers.map((informer) => informer.isCurrent()));
      if (areCurrent.every(Boolean) && this.#queue.isSettled) return;
      await Promise.race([nextTurn(), tooLate]);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#informers.map((informer) => informer.close()), this.#queue.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #work(key: string): Promise<void> {
    // The cache may lag behind. The object in it decides only whether it is selected.
    const known = this.#objects.get(nameOf(key));
    const object = known && (await this.#client.find(known.metadata));
    const result = object && (await this.#process(object));
    this.#errors.delete(key);
    if (result?.requeueAfterMs !== undefined) this.#queue.addAfter(key, result.requeueAfterMs);
  }

  async #process(object: Item): Promise<ReconcileResult | undefined> {
    const { finalizers = {} } = this.#options;
    const { deletionTimestamp, finalizers: present = [] } = object.metadata;
    if (deletionTimestamp !== undefined) {
      const name = Object.keys(finalizers).find((one) => present.includes(one));
      return name === undefined ? undefined : this.#finalize(object, name, finalizers[name]);
    }
    const missing = Object.keys(finalizers).filter((one) => !present.includes(one));
    const prepared = missing.length === 0 ? object : await this.#setFinalizers(object, [...present, ...missing]);
    return (await this.#reconcile(prepared, this.#contextOf(prepared))) ?? undefined;
  }

  /** Calls one function and removes its finalizer. The change of the object leads to the next one. */
  async #finalize(
    object: Item,
    name: string,
    finalize: ReconcileFunction<Item> | undefined,
  ): Promise<ReconcileResult | undefined> {
    const { finalizers = [] } = object.metadata;
    const result = await finalize?.(object, this.#contextOf(object));
    if (result?.requeueAfterMs !== undefined) return result;
    const left = finalizers.filter((one) => one !== name);
    await this.#setFinalizers(object, left).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    });
    return undefined;
  }

  #setFinalizers({ metadata }: Item, finalizers: readonly string[]): Promise<Item> {
    const { resourceVersion } = metadata;
    return this.#client.patch(metadata, [
      // A changed object is a conflict.
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
      { op: "add", path: "/metadata/finalizers", value: finalizers },
    ]);
  }

  #contextOf({ metadata }: Item): ReconcileContext {
    const { apiVersion, kind } = this.#kind;
    const { name, uid, namespace } = metadata;
    return {
      client: (of, options = {}) => this.#clientOf(of, { namespace, ...options }),
      owner: { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
      signal: this.#stop.signal,
    };
  }

  #clientOf<Other extends Stored, Input>(kind: KindReference<Other, Input>, more: ClientOptions = {}) {
    const { user, fieldManager, namespace } = this.#options;
    return this.#makeClient(kind, { user, fieldManager, namespace, ...more });
  }

  #ownedChanged(change: InformerChange<Stored>): void {
    const versions = change.type === "MODIFIED" ? [change.object, change.previous] : [change.object];
    for (const { metadata } of versions) {
      for (const owner of metadata.ownerReferences ?? []) {
        if (this.#isOwn(owner)) this.#queue.add(this.#keyOfOwner(owner, metadata.namespace));
      }
    }
  }

  #isOwn({ apiVersion, kind }: OwnerReference): boolean {
    return kind === this.#kind.kind && groupOf(apiVersion) === groupOf(this.#kind.apiVersion);
  }

  #keyOfOwner({ name }: OwnerReference, namespace: string | undefined): string {
    return this.#kind.scope === "Cluster" ? name : keyOf({ name, namespace });
  }

  #restless(withinMs: number): Error {
    const waiting = [...this.#errors].map(
      ([key, error]) => `${key}: ${error instanceof Error ? error.message : error}`,
    );
    const why = waiting.length === 0 ? "objects keep changing" : `failing: ${waiting.join("; ")}`;
    return new Error(`the reconciler of ${this.#kind.kind} is not settled after ${withinMs} ms; ${why}`);
  }
}

/** Whether an object has changed since it was read. A conflict of an apply names its causes, and does not pass by itself. */
function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status.reason === "Conflict" && error.status.details?.causes === undefined;
}

function nameOf(key: string): { name: string; namespace?: string } {
  const at = key.indexOf("/");
  return at < 0 ? { name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}
