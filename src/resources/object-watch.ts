import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { ObjectView, WatchEvent } from "../api/reply.ts";
import type { StoreEvent, WatchBatch } from "../storage/store.ts";
import type { ServedResource } from "./catalog.ts";
import type { ResourceContext } from "./collection.ts";
import { listObjects } from "./object-list.ts";
import { viewDeleted, viewObject } from "./object-view.ts";
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
    yield* liveEvents(context, resource, { ...request, resourceVersion: revision }, signal);
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

async function* liveEvents(
  context: ResourceContext,
  resource: ServedResource,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[]> {
  const prefix = context.keys.prefix(resource.definition, request.selection.namespace);
  const batches = context.store.watch(prefix, request.resourceVersion ?? 0, signal)[Symbol.asyncIterator]();
  const bookmarks = request.allowBookmarks ? new BookmarkClock(request.deadlineMs) : undefined;
  let known = request.resourceVersion ?? 0;
  let pending: Promise<IteratorResult<WatchBatch>> | undefined;
  try {
    for (;;) {
      pending ??= batches.next();
      const result = bookmarks ? await Promise.race([pending, bookmarks.due(signal)]) : await pending;
      if (result === "due") {
        // The store has told us everything up to here: nothing of this prefix happened in between.
        yield [bookmark(resource, known)];
        continue;
      }
      pending = undefined;
      if (result.done) return;
      known = Math.max(known, result.value.revision);
      const events = translate(context, resource, request.selection, result.value.events);
      if (events.length > 0) yield events;
    }
  } finally {
    bookmarks?.stop();
    await batches.return?.();
  }
}

/** Says when the next bookmark is due: about once a minute, and shortly before the stream ends. */
class BookmarkClock {
  readonly #deadlineMs: number;
  readonly #stopped = new AbortController();
  #due: Promise<"due"> | undefined;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  due(signal: AbortSignal): Promise<"due"> {
    this.#due ??= this.#wait(signal).then(() => {
      this.#due = undefined;
      return "due" as const;
    });
    return this.#due;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const untilLast = this.#deadlineMs - LAST_BOOKMARK_MS - Date.now();
    const delay = untilLast > 0 ? Math.min(BOOKMARK_INTERVAL_MS, untilLast) : BOOKMARK_INTERVAL_MS;
    await sleep(delay, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => never(signal));
  }

  stop(): void {
    this.#stopped.abort();
  }
}

/** Stays pending: a stopped clock must not look like a due bookmark. */
function never(_signal: AbortSignal): Promise<never> {
  return new Promise(() => undefined);
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

function translate(
  context: ResourceContext,
  resource: ServedResource,
  selection: Selection,
  events: readonly StoreEvent[],
): WatchEvent[] {
  const out: WatchEvent[] = [];
  for (const event of events) {
    const { entry, previous } = event;
    const after = entry && context.views.view(resource, entry);
    const matched = previous !== undefined && isSelected(selection, context.views.view(resource, previous));
    const matches = after !== undefined && isSelected(selection, after);
    if (matches) out.push({ type: matched ? "MODIFIED" : "ADDED", view: after });
    else if (matched) out.push({ type: "DELETED", view: deletedView(resource, event) });
  }
  return out;
}

function isSelected(selection: Selection, view: ObjectView): boolean {
  return selection.isEverything || selection.matches(view.object);
}

/** Compat: an object that is deleted, or leaves the selection, is shown as it was, at the revision of the change. */
function deletedView(resource: ServedResource, event: StoreEvent): ObjectView {
  const memo = event.memo as { resource: ServedResource; view: ObjectView } | undefined;
  if (memo?.resource === resource) return memo.view;
  if (!event.previous) throw new Error("a deletion without a previous state cannot be shown");
  const view = viewDeleted(resource, event.previous, event.revision);
  event.memo = { resource, view };
  return view;
}
