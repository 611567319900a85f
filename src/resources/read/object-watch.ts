import { ApiError, expired } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { WatchEvent } from "../../api/reply.ts";
import type { Timer } from "../../lib/clock.ts";
import { END, isPollable, type Pollable, PolledIterator, PollWaiter } from "../../lib/pollable.ts";
import type { Entry, StoreWatch, WatchBatch } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { translateStoreError } from "../model/store-errors.ts";
import { ConvertedEvents } from "./converted-events.ts";
import { convertEntries, convertsInBatches } from "./converted-views.ts";
import { listObjects } from "./object-list.ts";
import { viewObject } from "./object-view.ts";
import type { Selection } from "./selection.ts";
import type { EntryViewer, ResourceViews } from "./view-cache.ts";

type Batch = readonly WatchEvent[];
type Result = IteratorResult<Batch, undefined>;

/**
 * Where a watch begins and what it shows besides changes: resourceVersion, sendInitialEvents, bookmarks. Validated
 * before.
 */
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

/** Events in batches. `return` ends them, also while somebody waits for the next ones. */
export interface ObjectEvents extends AsyncIterableIterator<Batch, undefined> {
  return(value?: undefined): Promise<Result>;
}

/**
 * Changes of one kind from a moment on, in order and without gaps. The last event may be ERROR. Ends with the signal, at
 * the deadline, and when the kind is withdrawn or changed.
 */
export function watchObjects(
  context: ResourceContext,
  resource: ServedResource,
  request: WatchRequest,
  signal: AbortSignal,
): ObjectEvents {
  return new ObjectWatch({ context, resource, request, signal });
}

/** What is watched, and for whom. */
interface Watched {
  readonly context: ResourceContext;
  readonly resource: ServedResource;
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
}

/** First the present state, if that is wanted, then what changes. */
class ObjectWatch implements ObjectEvents, Pollable<Batch> {
  readonly #watched: Watched;
  readonly #waiter: PollWaiter<Batch>;
  /** Where changes follow on from; known when the present state is. */
  #from: number;
  #initial: Pollable<Batch> | undefined;
  #live: LiveEvents | undefined;
  #wake: () => void = () => {};
  #forgetKind: () => void = () => {};
  #isDone = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#waiter = new PollWaiter(this);
    this.#from = watched.request.resourceVersion ?? 0;
    this.#initial = new PolledIterator(this.#begin());
    this.#forgetKind = watched.resource.withdrawn.listen(() => this.stop());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    return this.#waiter.next();
  }

  async return(): Promise<Result> {
    this.stop();
    return { done: true, value: undefined };
  }

  poll(): Batch | undefined | typeof END {
    if (this.#isDone) return END;
    if (this.#live !== undefined) return this.#readLive(this.#live);
    try {
      const given = this.#initial?.poll() ?? undefined;
      if (given !== END) return given;
      this.#initial = undefined;
      this.#live = new LiveEvents(this.#watched, this.#from);
      this.#live.onReady(this.#wake);
    } catch (error) {
      this.#forgetKind();
      this.#isDone = true;
      return refuse(this.#watched, error, this.#from);
    }
    return this.#readLive(this.#live);
  }

  #readLive(live: LiveEvents): Batch | undefined | typeof END {
    const given = live.poll();
    if (live.isOver) this.#forgetKind();
    return given;
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    (this.#live ?? this.#initial)?.onReady(wake);
  }

  stop(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#forgetKind();
    (this.#live ?? this.#initial)?.stop();
    this.#wake();
  }

  async *#begin(): AsyncGenerator<Batch, undefined> {
    this.#from = yield* initialEvents(this.#watched);
  }
}

/** The present state, where it is wanted. Returns the revision from which on changes follow. */
async function* initialEvents({ context, resource, request }: Watched): AsyncGenerator<Batch, number> {
  const from = request.resourceVersion ?? 0;
  if (!request.sendInitialEvents) return from === 0 ? await context.store.revision() : from;
  const { items, metadata } = await initialState(context, resource, request);
  const revision = Number(metadata.resourceVersion);
  for (let at = 0; at < items.length; at += INITIAL_EVENTS_PER_BATCH) {
    const batch: WatchEvent[] = [];
    for (let i = at; i < at + INITIAL_EVENTS_PER_BATCH; i++) {
      const view = items.at(i);
      if (view) batch.push({ type: "ADDED", view });
    }
    yield batch;
  }
  if (request.allowBookmarks) yield [bookmark(resource, revision, true)];
  return revision;
}

/** The last event of a watch that cannot go on: ERROR with a Status. Throws what is not a refusal. */
function refuse({ resource, signal }: Watched, error: unknown, revision: number): Batch | typeof END {
  if (signal.aborted) return END;
  const { group, plural, rules } = resource.definition;
  const about = { target: { group, resource: plural }, operation: "watch", revision } as const;
  let refusal = error instanceof ApiError ? error : translateStoreError(error, about);
  // Compat: objects with a TTL have no watch cache; the 410 is etcd3's, with "The resourceVersion for the provided
  // watch is too old."
  if (refusal.status.code === 410 && rules.ttlSeconds !== undefined) {
    refusal = expired("The resourceVersion for the provided watch is too old.");
  }
  return [{ type: "ERROR", status: refusal.status }];
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

/**
 * Live changes, with bookmarks in between while nothing happens. There may be many thousands of these, so that one which
 * waits holds nothing but itself and a timer, and makes nothing for every change.
 */
class LiveEvents implements Pollable<Batch> {
  readonly #watched: Watched;
  readonly #from: number;
  readonly #watch: StoreWatch;
  readonly #source: Pollable<WatchBatch>;
  /** What is read instead of the source where a batch converter stands between the two. */
  readonly #converted: ConvertedEvents | undefined;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  /** Whether the reader has been told that there is nothing. */
  #isWaiting = false;
  /** A bookmark for a reader that waits. */
  #held: Batch | undefined;
  #isOver = false;
  #bookmarked: number;

  constructor(watched: Watched, from: number) {
    const { context, resource, request, signal } = watched;
    this.#watched = watched;
    this.#from = from;
    this.#bookmarked = from;
    const prefix = context.keys.prefix(resource.definition, request.selection.namespace);
    this.#watch = context.store.watch(prefix, from, signal);
    this.#source = isPollable(this.#watch) ? this.#watch : new PolledIterator(this.#watch[Symbol.asyncIterator]());
    if (convertsInBatches(resource)) {
      this.#converted = new ConvertedEvents(this.#source, (batch) => this.#convert(batch));
    }
    this.#schedule();
  }

  poll(): Batch | undefined | typeof END {
    const held = this.#held;
    this.#held = undefined;
    this.#isWaiting = false;
    if (held !== undefined) return held;
    if (this.#isOver) return END;
    try {
      return this.#read();
    } catch (error) {
      this.stop();
      return refuse(this.#watched, error, this.#from);
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    (this.#converted ?? this.#source).onReady(wake);
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.close();
    this.#source.stop();
  }

  #read(): Batch | undefined | typeof END {
    for (;;) {
      const events = this.#converted === undefined ? this.#translate(this.#source.poll()) : this.#converted.poll();
      if (events === END) this.stop();
      if (events === undefined) this.#isWaiting = true;
      if (events === END || events === undefined || events.length > 0) return events;
    }
  }

  #translate(batch: WatchBatch | undefined | typeof END): Batch | undefined | typeof END {
    if (batch === END || batch === undefined) return batch;
    const { context, resource, request } = this.#watched;
    return translate(context.views.of(resource), request.selection, batch);
  }

  /** For kinds with a batch converter. */
  async #convert(batch: WatchBatch): Promise<Batch> {
    const { context, resource, request } = this.#watched;
    const { selection } = request;
    const views = context.views.of(resource);
    const entries = batch.events.flatMap(({ entry, previous }) => {
      const isPreviousNeeded = entry === undefined || !selection.isEverything;
      return [entry, isPreviousNeeded ? previous : undefined].filter((one) => one !== undefined);
    });
    const convert = () => convertEntries(context, resource, entries);
    // Those who select need more of the previous states than others.
    if (!selection.isEverything) return translateBatch(await convert(), selection, batch);
    const viewer = await views.converted(batch, convert);
    return views.events(batch, () => translateBatch(viewer, selection, batch));
  }

  /** Bookmarks about once a minute and shortly before the end; then the end. */
  #schedule(): void {
    const { context, request } = this.#watched;
    const left = request.deadlineMs - context.clock.now();
    const untilLast = left - LAST_BOOKMARK_MS;
    const isBookmark = request.allowBookmarks && untilLast > 0;
    // Far ends in whole seconds, so that thousands of watches share few timers.
    const untilEnd = left > 10_000 ? Math.ceil(left / 1000) * 1000 : left;
    const delay = isBookmark ? Math.min(BOOKMARK_INTERVAL_MS, untilLast) : untilEnd;
    const act = () => {
      if (isBookmark) {
        this.#sendBookmark();
        this.#schedule();
      } else {
        this.stop();
        this.#wake();
      }
    };
    this.#timer = context.clock.setTimer(delay, act).unref();
  }

  #sendBookmark(): void {
    const revision = this.#watch.progress();
    // A reader that is busy gets none: it would have to be held for it. One that waits for a conversion is not that far.
    if (!this.#isWaiting || this.#converted?.isBusy || revision < this.#bookmarked) return;
    this.#bookmarked = revision;
    this.#held = [bookmark(this.#watched.resource, revision)];
    this.#wake();
  }
}

/** A BOOKMARK: an object with nothing but a resourceVersion. */
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

function translate(views: ResourceViews, selection: Selection, batch: WatchBatch): Batch {
  if (!selection.isEverything) return translateBatch(views, selection, batch);
  return views.events(batch, () => translateBatch(views, selection, batch));
}

function translateBatch(views: EntryViewer, selection: Selection, batch: WatchBatch): Batch {
  const out: WatchEvent[] = [];
  for (const event of batch.events) {
    const { entry, previous } = event;
    const isSelected = (one: Entry) => selection.isEverything || selection.matches(views.selectable(one));
    const matched = previous !== undefined && isSelected(previous);
    if (entry !== undefined && isSelected(entry)) {
      out.push({ type: matched ? "MODIFIED" : "ADDED", view: views.view(entry) });
    }
    // Compat: DELETED shows the object as it was, with the resourceVersion of the change, also when the object only
    // leaves the selection.
    else if (matched) out.push({ type: "DELETED", view: views.deletedView(event) });
  }
  return out;
}
