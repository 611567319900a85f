import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { WatchEvent } from "../api/reply.ts";
import type { Entry, StoreWatch, WatchBatch } from "../storage/store.ts";
import type { ServedResource } from "./catalog.ts";
import type { ResourceContext } from "./collection.ts";
import { listObjects } from "./object-list.ts";
import { viewObject } from "./object-view.ts";
import type { Selection } from "./selection.ts";
import { translateStoreError } from "./store-errors.ts";

/** Where a watch begins and what it shows besides changes. Validated before. */
export interface WatchRequest {
  readonly selection: Selection;
  /** Undefined: not given. 0: any. */
  readonly resourceVersion: number | undefined;
  /** The present state comes first, as ADDED events. */
  readonly sendInitialEvents: boolean;
  readonly allowBookmarks: boolean;
  /** When the stream will end, in milliseconds since the epoch. */
  readonly deadlineMs: number;
}

const BOOKMARK_INTERVAL_MS = 60_000;
/** How long before the end of a stream its last bookmark is sent. */
const LAST_BOOKMARK_MS = 2_000;
const INITIAL_EVENTS_PER_BATCH = 500;

/** Changes of one kind from a moment on, in order and without gaps. The last event may be ERROR. Ends with the signal. */
export async function* watchObjects(
  context: ResourceContext,
  resource: ServedResource,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[]> {
  const target = { group: resource.definition.group, resource: resource.definition.plural };
  let revision = request.resourceVersion ?? 0;
  try {
    if (request.sendInitialEvents) {
      const list = await initialState(context, resource, request);
      revision = Number(list.metadata.resourceVersion);
      for (let at = 0; at < list.items.length; at += INITIAL_EVENTS_PER_BATCH) {
        const views = list.items.slice(at, at + INITIAL_EVENTS_PER_BATCH);
        yield views.map((view) => ({ type: "ADDED", view }) as const);
      }
      if (request.allowBookmarks) yield [bookmark(resource, revision, true)];
    } else if (revision === 0) {
      revision = await context.store.revision();
    }
    yield* new LiveEvents(context, resource, { ...request, resourceVersion: revision }, signal);
  } catch (error) {
    if (signal.aborted) return;
    const refusal =
      error instanceof ApiError ? error : translateStoreError(error, { target, operation: "watch", revision });
    yield [{ type: "ERROR", status: refusal.status }];
  }
}

function initialState(context: ResourceContext, resource: ServedResource, request: WatchRequest) {
  return listObjects(context, resource, {
    selection: request.selection,
    limit: 0,
    continueToken: "",
    resourceVersion: request.resourceVersion,
    resourceVersionMatch: request.resourceVersion === undefined ? "" : "NotOlderThan",
  });
}

type Batch = readonly WatchEvent[];
type Result = IteratorResult<Batch, undefined>;

/**
 * Live changes, with bookmarks in between while nothing happens. Written by hand rather than as a generator: a watcher
 * that waits is one pending promise and one timer, and there may be many thousands of them.
 */
class LiveEvents implements AsyncIterableIterator<Batch, undefined> {
  readonly #context: ResourceContext;
  readonly #resource: ServedResource;
  readonly #selection: Selection;
  readonly #deadlineMs: number;
  readonly #watch: StoreWatch;
  readonly #source: AsyncIterator<WatchBatch>;
  #timer: NodeJS.Timeout | undefined;
  #waiter: { resolve(result: Result): void; reject(error: unknown): void } | undefined;
  /** Whether the source has been asked for something that it has not given yet. */
  #isAsking = false;
  /** What the source gave after a bookmark had answered the question. */
  #held: { readonly result: Result } | { readonly error: unknown } | undefined;
  #bookmarked: number;

  constructor(context: ResourceContext, resource: ServedResource, request: WatchRequest, signal: AbortSignal) {
    this.#context = context;
    this.#resource = resource;
    this.#selection = request.selection;
    this.#deadlineMs = request.deadlineMs;
    this.#bookmarked = request.resourceVersion ?? 0;
    const prefix = context.keys.prefix(resource.definition, request.selection.namespace);
    this.#watch = context.store.watch(prefix, request.resourceVersion ?? 0, signal);
    this.#source = this.#watch[Symbol.asyncIterator]();
    if (request.allowBookmarks) this.#schedule();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const held = this.#held;
    if (held !== undefined) {
      this.#held = undefined;
      return "error" in held ? Promise.reject(held.error) : Promise.resolve(held.result);
    }
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (!this.#isAsking) this.#ask();
    });
  }

  async return(): Promise<Result> {
    clearTimeout(this.#timer);
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #ask(): void {
    this.#isAsking = true;
    this.#source.next().then(
      (result) => {
        this.#isAsking = false;
        if (result.done) this.#give({ result: { done: true, value: undefined } });
        else this.#take(result.value);
      },
      (error: unknown) => this.#give({ error }),
    );
  }

  #take(batch: WatchBatch): void {
    const events = translate(this.#context, this.#resource, this.#selection, batch);
    if (events.length > 0) this.#give({ result: { done: false, value: events } });
    else this.#ask();
  }

  #give(given: { readonly result: Result } | { readonly error: unknown }): void {
    // Whoever delegates to an iterator does not call `return` when it ends by itself.
    if ("error" in given || given.result.done) clearTimeout(this.#timer);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) this.#held = given;
    else if ("error" in given) waiter.reject(given.error);
    else waiter.resolve(given.result);
  }

  /** About once a minute, and shortly before the stream ends. */
  #schedule(): void {
    const untilLast = this.#deadlineMs - LAST_BOOKMARK_MS - this.#context.clock.now();
    const delay = untilLast > 0 ? Math.min(BOOKMARK_INTERVAL_MS, untilLast) : BOOKMARK_INTERVAL_MS;
    this.#timer = setTimeout(() => {
      this.#sendBookmark();
      this.#schedule();
    }, delay);
    this.#timer.unref();
  }

  #sendBookmark(): void {
    const revision = this.#watch.progress();
    // A reader that is busy gets none: it would have to be held for it.
    if (this.#waiter === undefined || !this.#isAsking || revision < this.#bookmarked) return;
    this.#bookmarked = revision;
    this.#give({ result: { done: false, value: [bookmark(this.#resource, revision)] } });
  }
}

/** An object that says nothing but how far the watch is. */
function bookmark(resource: ServedResource, revision: number, endsInitialEvents = false): WatchEvent {
  const object: KubeObject = {
    kind: resource.definition.kind,
    apiVersion: resource.apiVersion,
    metadata: {
      resourceVersion: String(revision),
      ...(endsInitialEvents ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    },
  };
  return { type: "BOOKMARK", view: viewObject(object) };
}

/** What the events of one batch look like to those who select everything; shared by all watchers of a prefix. */
const translations = new WeakMap<WatchBatch, { readonly resource: ServedResource; readonly events: Batch }>();

function translate(context: ResourceContext, resource: ServedResource, selection: Selection, batch: WatchBatch): Batch {
  if (!selection.isEverything) return translateBatch(context, resource, selection, batch);
  const known = translations.get(batch);
  if (known?.resource === resource) return known.events;
  const events = translateBatch(context, resource, selection, batch);
  translations.set(batch, { resource, events });
  return events;
}

function translateBatch(
  context: ResourceContext,
  resource: ServedResource,
  selection: Selection,
  batch: WatchBatch,
): Batch {
  const out: WatchEvent[] = [];
  for (const event of batch.events) {
    const { entry, previous } = event;
    const isSelected = (one: Entry) =>
      selection.isEverything || selection.matches(context.views.attributes(resource, one));
    const matched = previous !== undefined && isSelected(previous);
    if (entry !== undefined && isSelected(entry)) {
      out.push({ type: matched ? "MODIFIED" : "ADDED", view: context.views.view(resource, entry) });
    }
    // Compat: an object that is deleted, or leaves the selection, is shown as it was, at the revision of the change.
    else if (matched) out.push({ type: "DELETED", view: context.views.deletedView(resource, event) });
  }
  return out;
}
