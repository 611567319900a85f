import { ApiError } from "../../../base/api/api-error.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type {
  Informer,
  InformerChange,
  KindClient,
  KindEvent,
  ObjectKey,
  SelectOptions,
  Stored,
} from "./client-types.ts";

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;
const PAGE = 500;

/** What an informer reads with. */
export type Source<Item> = Pick<KindClient<Item, never>, "list" | "watch">;

/** Options of an informer. */
export interface InformerContext {
  readonly clock: Clock;
  /** The namespace of names without one. */
  readonly namespace: string;
}

/** Starts an informer. `failed` receives the errors after which it tries again. */
export function startInformer<Item extends Stored>(
  source: Source<Item>,
  selected: SelectOptions,
  context: InformerContext,
  failed: (error: unknown) => void,
): WatchedObjects<Item> {
  return new WatchedObjects(source, selected, context, failed);
}

/** `namespace/name`, or the name of an object without a namespace. */
export function keyOf({ name, namespace }: { readonly name: string; readonly namespace?: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * An informer by list and watch, with the permissions of a client and in the version of its kind. The informers of
 * `cluster/controllers` follow the store itself.
 */
export class WatchedObjects<Item extends Stored> implements Informer<Item> {
  readonly #source: Source<Item>;
  readonly #selected: SelectOptions;
  readonly #context: InformerContext;
  readonly #failed: (error: unknown) => void;
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #listeners = new Set<(change: InformerChange<Item>) => void>();
  /** Resolves when the informer is closed. */
  readonly ended: Promise<void>;
  readonly #objects = new Map<string, Item>();
  /** Where the next watch begins. Undefined: it has to list first. */
  #at: string | undefined;
  /** Attempts to watch since the last event. */
  #attempts = 0;

  constructor(
    source: Source<Item>,
    selected: SelectOptions,
    context: InformerContext,
    failed: (error: unknown) => void,
  ) {
    this.#source = source;
    this.#selected = selected;
    this.#context = context;
    this.#failed = failed;
    this.#synced.promise.catch(() => {});
    this.ended = this.#run();
  }

  synced(): Promise<void> {
    return this.#synced.promise;
  }

  get(name: ObjectKey): Item | undefined {
    if (typeof name !== "string") return this.#objects.get(keyOf(name));
    return this.#objects.get(keyOf({ name, namespace: this.#context.namespace })) ?? this.#objects.get(name);
  }

  list(): Item[] {
    return [...this.#objects.values()];
  }

  subscribe(listener: (change: InformerChange<Item>) => void): () => void {
    for (const object of this.#objects.values()) listener({ type: "ADDED", object });
    const own = (change: InformerChange<Item>) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Whether the cache shows everything that is stored now, or something newer. */
  async isCurrent(): Promise<boolean> {
    const { items } = await this.#source.list(this.#selected);
    const stored = new Set(items.map(({ metadata }) => keyOf(metadata)));
    return (
      this.#at !== undefined &&
      [...this.#objects.keys()].every((key) => stored.has(key)) &&
      items.every(({ metadata }) => {
        const known = this.#objects.get(keyOf(metadata));
        return known !== undefined && Number(known.metadata.resourceVersion) >= Number(metadata.resourceVersion);
      })
    );
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#synced.reject(new Error("the informer was closed before it had listed all objects"));
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        this.#at ??= await this.#load();
        this.#synced.resolve();
        await this.#watch(this.#at);
      } catch (error) {
        if (signal.aborted) return;
        // The changes since then are gone.
        if (error instanceof ApiError && error.code === 410) this.#at = undefined;
        else this.#failed(error);
      }
      const delayMs = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** this.#attempts);
      // Watches end now and then, so the first attempt to continue is made at once.
      if (this.#attempts > 0) await this.#context.clock.sleep(delayMs, signal);
      this.#attempts += 1;
    }
  }

  /** Lists all objects, and reports how they differ from the cache. Resolves to where a watch continues. */
  async #load(): Promise<string> {
    const found = new Map<string, Item>();
    let token: string | undefined;
    let at = "";
    do {
      const page = await this.#source.list({ ...this.#selected, limit: PAGE, continue: token });
      for (const object of page.items) found.set(keyOf(object.metadata), object);
      token = page.continue;
      at = page.resourceVersion;
    } while (token);
    for (const [key, object] of this.#objects) if (!found.has(key)) this.#remove(key, object);
    for (const [key, object] of found) this.#put(key, object);
    return at;
  }

  async #watch(at: string): Promise<void> {
    const { signal } = this.#stop;
    const options = { ...this.#selected, resourceVersion: at, bookmarks: true, signal };
    for await (const event of this.#source.watch(options)) this.#take(event);
  }

  #take(event: KindEvent<Item>): void {
    this.#attempts = 0;
    if (event.type === "BOOKMARK") {
      this.#at = event.resourceVersion;
      return;
    }
    const { object } = event;
    const key = keyOf(object.metadata);
    if (event.type === "DELETED") this.#remove(key, object);
    else this.#put(key, object);
    this.#at = object.metadata.resourceVersion;
  }

  #put(key: string, object: Item): void {
    const previous = this.#objects.get(key);
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#objects.set(key, object);
    this.#report(previous ? { type: "MODIFIED", object, previous } : { type: "ADDED", object });
  }

  #remove(key: string, object: Item): void {
    if (this.#objects.delete(key)) this.#report({ type: "DELETED", object });
  }

  #report(change: InformerChange<Item>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}
