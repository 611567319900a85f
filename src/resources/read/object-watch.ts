import { ApiError, expired } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { WatchEvent } from "../../base/api/reply.ts";
import type { Timer } from "../../base/util/clock.ts";
import { END, type Pollable, PollWaiter, pollableOf } from "../../base/util/pollable.ts";
import type { Entry, StoreWatch, WatchBatch, WatchInterest } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { translateStoreError } from "../model/store-errors.ts";
import { ConvertedEvents } from "./converted-events.ts";
import { convertEntries, convertsInBatches } from "./converted-views.ts";
import { listObjects } from "./object-list.ts";
import { viewObject } from "./object-view.ts";
import type { Selection } from "./selection.ts";
import type { EntryViewer } from "./view-cache.ts";

type Batch = readonly WatchEvent[];
type Result = IteratorResult<Batch, undefined>;

/** The start of a watch, and what it sends besides changes. Already validated. */
export interface WatchRequest {
  readonly selection: Selection;
  /** Undefined: not given. 0: any. */
  readonly resourceVersion: number | undefined;
  /** Send the current state first, as ADDED events. */
  readonly sendInitialEvents: boolean;
  readonly allowBookmarks: boolean;
  /** End of the stream, in milliseconds since the epoch. */
  readonly deadlineMs: number;
}

const BOOKMARK_INTERVAL_MS = 60_000;
/** Time between the last bookmark and the end of a stream. */
const LAST_BOOKMARK_MS = 2_000;
const INITIAL_EVENTS_PER_BATCH = 500;

/** Batches of events. `return` ends the watch, even while `next` is pending. */
export interface ObjectEvents extends AsyncIterableIterator<Batch, undefined> {
  return(value?: undefined): Promise<Result>;
}

/**
 * Watches a kind: changes in order and without gaps. The last event may be ERROR. Ends when the signal is aborted, at
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

/** Parameters of a watch. */
interface Watched {
  readonly context: ResourceContext;
  readonly resource: ServedResource;
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
}

/** Sends the current state if requested, then changes. */
class ObjectWatch implements ObjectEvents, Pollable<Batch> {
  readonly #watched: Watched;
  readonly #waiter: PollWaiter<Batch>;
  /** The revision after which changes follow. Set once the current state has been read. */
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
    this.#initial = pollableOf(this.#begin());
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

/** Yields the current state if requested. Returns the revision after which changes follow. */
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

/** The last event of a failed watch: ERROR with a Status. Rethrows errors that are neither ApiError nor StoreError. */
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
 * Live changes, with bookmarks while nothing changes. There may be many thousands of watches, so an idle one holds
 * nothing but itself and a timer, and allocates nothing per change.
 */
class LiveEvents implements Pollable<Batch> {
  readonly #watched: Watched;
  readonly #from: number;
  readonly #watch: StoreWatch;
  readonly #source: Pollable<WatchBatch>;
  /** Used instead of the source if the kind has a batch converter. */
  readonly #converted: ConvertedEvents | undefined;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  /** Whether the last `poll` returned nothing. */
  #isWaiting = false;
  /** A bookmark for a waiting reader. */
  #held: Batch | undefined;
  #isOver = false;
  #bookmarked: number;

  constructor(watched: Watched, from: number) {
    const { context, resource, request, signal } = watched;
    this.#watched = watched;
    this.#from = from;
    this.#bookmarked = from;
    const { prefix, interest } = scopeOf(context, resource, request.selection);
    this.#watch = context.store.watch(prefix, from, signal, interest);
    this.#source = pollableOf(this.#watch);
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
    const { selection } = request;
    const views = context.views.of(resource);
    return views.events(batch, selection.key, () => translateBatch(views, selection, batch));
  }

  /** Converts a batch of a kind with a batch converter. */
  async #convert(batch: WatchBatch): Promise<Batch> {
    const { context, resource, request } = this.#watched;
    const { selection } = request;
    const views = context.views.of(resource);
    const entries = batch.events.flatMap(({ entry, previous }) => {
      const isPreviousNeeded = entry === undefined || !selection.isEverything;
      return [entry, isPreviousNeeded ? previous : undefined].filter((one) => one !== undefined);
    });
    const convert = () => convertEntries(context, resource, entries);
    const viewer = await views.converted(batch, !selection.isEverything, convert);
    return views.events(batch, selection.key, () => translateBatch(viewer, selection, batch));
  }

  /** Schedules bookmarks about once a minute and shortly before the end, then the end. */
  #schedule(): void {
    const { context, request } = this.#watched;
    const left = request.deadlineMs - context.clock.now();
    const untilLast = left - LAST_BOOKMARK_MS;
    const isBookmark = request.allowBookmarks && untilLast > 0;
    // Distant ends are rounded to seconds, so thousands of watches share few timers.
    const untilEnd = left > 10_000 ? Math.ceil(left / 1000) * 1000 : left;
    const delay = isBookmark ? Math.min(BOOKMARK_INTERVAL_MS, untilLast) : untilEnd;
    if (delay === Number.POSITIVE_INFINITY) return;
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
    // A busy reader gets no bookmark, as it would have to be buffered. Neither does one that waits for a conversion.
    if (!this.#isWaiting || this.#converted?.isBusy || revision < this.#bookmarked) return;
    this.#bookmarked = revision;
    this.#held = [bookmark(this.#watched.resource, revision)];
    this.#wake();
  }
}

/** A BOOKMARK event: an object with only a resourceVersion. */
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

/** Few keys and terms that all selected objects have. Other objects may have them, too. */
function scopeOf(
  { keys, views }: ResourceContext,
  resource: ServedResource,
  { namespace, name, terms }: Selection,
): { readonly prefix: string; readonly interest?: WatchInterest } {
  const prefix = keys.prefix(resource.definition, namespace);
  const isFolder = namespace !== "" || resource.definition.scope === "Cluster";
  // Unlike terms, keys are known without decoding.
  if (isFolder && name !== undefined) return { prefix: prefix + name };
  // The terms of a kind with a batch converter are only known after the conversion.
  if (terms.length === 0 || convertsInBatches(resource)) return { prefix };
  return { prefix, interest: { index: views.of(resource).index, terms } };
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
    // Compat: DELETED contains the previous object with the resourceVersion of the change, even if the object only
    // stops matching the selection.
    else if (matched) out.push({ type: "DELETED", view: views.deletedView(event) });
  }
  return out;
}
