import { ApiError } from "../../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { type Follower, follow } from "../../../../resources/read/follow.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { type Located, readObject, StoredKinds } from "../../../../resources/stored-kinds.ts";
import type { Entry, StoreEvent } from "../../../../storage/store.ts";
import type { Controller, ControllerContext } from "../../shared/controller.ts";
import { nextConditions } from "./namespace-conditions.ts";
import { type Content, emptyNamespace } from "./namespace-content.ts";

const NAME = "namespace-controller";
const WORKERS = 10;
const FINALIZER = "kubernetes";
/** Delay after which changes of the remaining content are reported in the conditions. */
const REFRESH_MS = 1000;
const MAX_ATTEMPTS = 5;
/** Maximum number of deleted namespaces that are remembered. */
const MAX_DEPARTED = 1000;

/**
 * The namespace controller: empties terminating Namespaces and then removes the finalizer kubernetes. Several instances
 * may run concurrently.
 */
export class NamespaceDeletion implements Controller {
  readonly name: string = NAME;
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { catalog, keys, store } = this.#context.resources;
    const namespaces = catalog.find("", "v1", "namespaces");
    if (!namespaces) throw new Error("namespaces are not served");
    const deletion = new Deletion(this.#context, namespaces);
    try {
      await follow(store, keys.root, deletion, signal);
    } finally {
      await deletion.close();
    }
  }
}

/** Tracks the remaining content of a namespace by combining a list with the events around it. */
class ContentTracker {
  readonly #present = new Set<string>();
  readonly #gone = new Set<string>();
  #isListed = false;

  /** Whether nothing is left. False before the first list. */
  get isEmpty(): boolean {
    return this.#isListed && this.#present.size === 0;
  }

  note(storeKey: string, isPresent: boolean): void {
    (isPresent ? this.#gone : this.#present).delete(storeKey);
    (isPresent ? this.#present : this.#gone).add(storeKey);
  }

  listed(storeKeys: ReadonlySet<string>): void {
    this.#isListed = true;
    // An event may be older or newer than the list. Treating a key as deleted too early only causes another check.
    for (const storeKey of storeKeys) if (!this.#gone.has(storeKey)) this.#present.add(storeKey);
    this.#gone.clear();
  }
}

/** One run of the controller. */
class Deletion implements Follower {
  readonly #context: ControllerContext;
  readonly #resources: Resources;
  readonly #namespaces: ServedResource;
  readonly #kinds: StoredKinds;
  readonly #queue: WorkQueue<string>;
  /** Content of the namespaces that are being emptied or cannot be deleted yet. */
  readonly #contents = new Map<string, ContentTracker>();
  /** Deleted namespaces: an object that was being created while its namespace was deleted must be deleted, too. */
  readonly #departed = new Set<string>();

  constructor(context: ControllerContext, namespaces: ServedResource) {
    const { resources, report } = context;
    this.#context = context;
    this.#resources = resources;
    this.#namespaces = namespaces;
    this.#kinds = new StoredKinds(resources);
    this.#queue = new WorkQueue({
      clock: resources.clock,
      concurrency: WORKERS,
      work: (namespace) => this.#work(namespace),
      onError: (error) => {
        if (!(error instanceof ApiError && error.code === 409)) report(NAME, error);
      },
    });
  }

  found(entry: Entry): void {
    const located = this.#kinds.locate(entry.key);
    if (located?.resource.definition === this.#namespaces.definition) this.#namespaceFound(located.key.name, entry);
  }

  loaded(): void {}

  changed(events: readonly StoreEvent[]): void {
    for (const event of events) {
      const located = this.#kinds.locate(event.key);
      if (located?.resource.definition === this.#namespaces.definition) {
        if (event.entry) this.#namespaceFound(located.key.name, event.entry);
        else this.#namespaceGone(located.key.name);
      } else if (located) this.#contentChanged(located, event);
    }
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  #namespaceFound(name: string, entry: Entry): void {
    this.#departed.delete(name);
    if (readObject(this.#resources.codec, entry)?.metadata.deletionTimestamp !== undefined) this.#queue.add(name);
  }

  #namespaceGone(name: string): void {
    this.#contents.delete(name);
    this.#departed.add(name);
    const [oldest] = this.#departed;
    if (this.#departed.size > MAX_DEPARTED && oldest !== undefined) this.#departed.delete(oldest);
    this.#queue.add(name);
  }

  #contentChanged({ key }: Located, event: StoreEvent): void {
    const content = this.#contents.get(key.namespace);
    if (content) {
      content.note(event.key, event.entry !== undefined);
      if (content.isEmpty) this.#queue.add(key.namespace);
      else this.#queue.addAfter(key.namespace, REFRESH_MS);
    } else if (event.entry && this.#departed.has(key.namespace)) this.#queue.add(key.namespace);
  }

  async #work(name: string): Promise<void> {
    const { store, keys } = this.#resources;
    // Read before the namespace: content at this revision is older than any later namespace of the same name.
    const revision = await store.revision();
    const entry = await store.get(keys.key(this.#namespaces.definition, { namespace: "", name }), {
      minRevision: revision,
    });
    const namespace = entry && readObject(this.#resources.codec, entry);
    if (!namespace) {
      await this.#emptyDeparted(name, revision);
      return;
    }
    if (namespace.metadata.deletionTimestamp === undefined) return;
    try {
      await this.#empty(await this.#markTerminating(namespace), revision);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }

  async #emptyDeparted(name: string, revision: number): Promise<void> {
    if (!this.#departed.has(name)) return;
    const where = { namespace: name, revision, deletedMs: this.#resources.clock.now() };
    await emptyNamespace(this.#context, this.#kinds, where);
  }

  async #empty(namespace: KubeObject, revision: number): Promise<void> {
    if (finalizersOf(namespace).length === 0) return;
    const { name = "", deletionTimestamp = "" } = namespace.metadata;
    const tracker = new ContentTracker();
    this.#contents.set(name, tracker);
    const where = { namespace: name, revision, deletedMs: Date.parse(deletionTimestamp) };
    const content = await emptyNamespace(this.#context, this.#kinds, where);
    tracker.listed(content.storeKeys);
    await this.#reportContent(namespace, content);
    if (content.failures.length > 0) {
      throw new Error(`deleting the content of namespace ${name} failed: ${content.failures.join(", ")}`);
    }
    if (!tracker.isEmpty && content.storeKeys.size > 0) {
      this.#queue.addAfter(name, (Math.floor(content.estimateSeconds / 2) + 1) * 1000);
    } else if (!tracker.isEmpty || content.storeKeys.size > 0) {
      // Objects were created or deleted since the list.
      this.#queue.add(name);
    } else {
      this.#contents.delete(name);
      await this.#finish(namespace);
    }
  }

  async #markTerminating(namespace: KubeObject): Promise<KubeObject> {
    if (statusOf(namespace).phase === "Terminating") return namespace;
    return this.#update(namespace, "status", (next) => {
      next.status = { ...statusOf(next), phase: "Terminating" };
    });
  }

  async #reportContent(namespace: KubeObject, content: Content): Promise<void> {
    await this.#update(namespace, "status", (next) => {
      const { conditions } = statusOf(next);
      const known = Array.isArray(conditions) ? conditions.filter(isObject) : [];
      const changed = nextConditions(known, content, this.#resources.clock.now());
      if (changed) next.status = { ...statusOf(next), conditions: changed };
    });
  }

  async #finish(namespace: KubeObject): Promise<void> {
    await this.#update(namespace, "finalize", (next) => {
      const finalizers = finalizersOf(next).filter((finalizer) => finalizer !== FINALIZER);
      const { finalizers: _, ...spec } = isObject(next.spec) ? next.spec : {};
      next.spec = finalizers.length > 0 ? { ...spec, finalizers } : spec;
    });
  }

  /** Updates a namespace, starting from its newest state; retries on conflicts. Throws NotFound and Conflict. */
  async #update(namespace: KubeObject, subresource: string, change: (next: KubeObject) => void): Promise<KubeObject> {
    const { name = "" } = namespace.metadata;
    let current = namespace;
    for (let attempt = 1; ; attempt += 1) {
      const next = cloneJson(current);
      change(next);
      try {
        return await this.#context.client.update(this.#namespaces, next, { subresource });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 409) || attempt === MAX_ATTEMPTS) throw error;
        const { store, keys } = this.#resources;
        const entry = await store.get(keys.key(this.#namespaces.definition, { namespace: "", name }));
        const live = entry && readObject(this.#resources.codec, entry);
        if (!live || live.metadata.uid !== namespace.metadata.uid) throw error;
        current = live;
      }
    }
  }
}

function statusOf({ status }: KubeObject) {
  return isObject(status) ? status : {};
}

function finalizersOf({ spec }: KubeObject): string[] {
  const finalizers = isObject(spec) ? spec.finalizers : undefined;
  return Array.isArray(finalizers) ? finalizers.filter((one) => typeof one === "string") : [];
}
