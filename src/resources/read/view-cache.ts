import type { ObjectView, ViewList, WatchEvent } from "../../base/api/reply.ts";
import type { Sequence } from "../../base/util/sequence.ts";
import type { Entry, StoreEvent, WatchBatch } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { ObjectCodec } from "../model/object-codec.ts";
import { Derived, type DerivedCache, EntryView, Printer, type Shown } from "./object-view.ts";
import { readSelectable, type SelectableValues } from "./selectable.ts";
import { SelectableIndex } from "./selectable-index.ts";

/**
 * Views of entries, for one control plane. Entries may be shared (between versions of a kind, or forks of the store),
 * so nothing is cached on them. Decoded and encoded forms are cached while they are among the most recent, limited by
 * count and bytes. Values for selectors are small and are cached as long as their entry exists. Views themselves are
 * not cached: most copy stored bytes and need no cache.
 */
export class ViewCache {
  readonly #codec: ObjectCodec;
  readonly #recent: Recent;
  readonly #resources = new WeakMap<ServedResource, ResourceViews>();

  constructor(codec: ObjectCodec, size = 1024, mostBytes = 8 * 1024 * 1024) {
    this.#codec = codec;
    this.#recent = new Recent(size, mostBytes);
  }

  /** Number of entries with cached forms, and its limit. */
  get usage(): { readonly entries: number; readonly capacity: number } {
    return this.#recent.usage;
  }

  /** The views of one served version. Call once to show many entries. */
  of(resource: ServedResource): ResourceViews {
    let views = this.#resources.get(resource);
    if (!views) {
      views = new ResourceViews(new Printer(resource, this.#codec), this.#recent);
      this.#resources.set(resource, views);
    }
    return views;
  }

  /** Returns a view of an entry in one served version. */
  view(resource: ServedResource, entry: Entry): ObjectView {
    return this.of(resource).view(entry);
  }

  /** Returns views of many entries, each created on access. */
  list(resource: ServedResource, entries: Sequence<Entry>): ViewList {
    return this.of(resource).list(entries);
  }
}

/** Shows entries in one served version. */
export interface EntryViewer {
  view(entry: Entry): ObjectView;
  /** Returns a view of the last state of a deleted object, at the revision of the event. */
  deletedView(event: StoreEvent): ObjectView;
  /** The values of an entry that selectors read. */
  selectable(entry: Entry): SelectableValues;
}

/** Views of one served version of a kind. */
export class ResourceViews implements EntryViewer, DerivedCache {
  readonly #printer: Printer;
  readonly #recent: Recent;
  readonly #derived: DerivedValues = new Map();
  readonly #selectable = new WeakMap<Entry, SelectableValues>();
  readonly #unchanged = new WeakMap<Entry, boolean>();
  readonly #events = new WeakMap<WatchBatch, Map<string, readonly WatchEvent[]>>();
  readonly #converted = new WeakMap<WatchBatch, Map<boolean, Promise<EntryViewer>>>();
  /** The terms of changes, for watches with selectors. */
  readonly index: SelectableIndex;

  constructor(printer: Printer, recent: Recent) {
    this.#printer = printer;
    this.#recent = recent;
    this.index = new SelectableIndex(printer.resource, (entry) => this.selectable(entry));
  }

  view(entry: Entry): ObjectView {
    return new EntryView(this.#printer, entry, this);
  }

  list(entries: Sequence<Entry>): ViewList {
    return new EntryViews(this, entries);
  }

  deletedView(event: StoreEvent): ObjectView {
    if (!event.previous) throw new Error("deletion event has no previous state");
    return new EntryView(this.#printer, event.previous, this, event);
  }

  /** Returns a view of the last state of a removed object, for the response to the deletion. Not cached. */
  removed(entry: Entry, revision: number): ObjectView {
    return new EntryView(this.#printer, entry, undefined, { revision });
  }

  /** Cached, so the object need not be decoded again. */
  selectable(entry: Entry): SelectableValues {
    let selectable = this.#selectable.get(entry);
    if (!selectable) {
      const object = this.#derived.get(entry)?.object ?? this.#printer.read(entry);
      selectable = readSelectable(this.#printer.resource, object);
      this.#selectable.set(entry, selectable);
    }
    return selectable;
  }

  /** Whether an entry can be served from its stored bytes. */
  isSpliced(entry: Entry): boolean {
    const { servesStoredBytes } = this.#printer;
    return this.#printer.spliceAt(entry.value) > 0 && (servesStoredBytes || this.isUnchanged(entry));
  }

  isUnchanged(entry: Entry): boolean {
    let isUnchanged = this.#unchanged.get(entry);
    if (isUnchanged === undefined) {
      isUnchanged = this.#printer.isUnchanged(entry);
      this.#unchanged.set(entry, isUnchanged);
    }
    return isUnchanged;
  }

  /** The events of a batch for one selection, given by its key. Shared by all watchers with this selection. */
  events(batch: WatchBatch, selection: string, translate: () => readonly WatchEvent[]): readonly WatchEvent[] {
    const known = inMap(this.#events, batch);
    let events = known.get(selection);
    if (!events) {
      events = translate();
      known.set(selection, events);
    }
    return events;
  }

  /**
   * The viewer for a batch that had to be converted. Shared by all watchers. `withPrevious`: the previous states of all
   * events were converted, which selectors need, not just those of deletions.
   */
  converted(batch: WatchBatch, withPrevious: boolean, convert: () => Promise<EntryViewer>): Promise<EntryViewer> {
    const known = inMap(this.#converted, batch);
    let viewer = known.get(withPrevious);
    if (!viewer) {
      viewer = convert();
      known.set(withPrevious, viewer);
      // After a failure the next call tries again.
      viewer.catch(() => known.delete(withPrevious));
    }
    return viewer;
  }

  derived(shown: Shown): Derived {
    let derived = this.#derived.get(shown);
    if (!derived) {
      derived = new Derived();
      this.#derived.set(shown, derived);
      this.#recent.add(this.#derived, shown, sizeOf(shown));
    }
    return derived;
  }
}

function inMap<Key extends object, Name, Value>(maps: WeakMap<Key, Map<Name, Value>>, key: Key): Map<Name, Value> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}

type DerivedValues = Map<Shown, Derived>;

/** The size of the entry's value; for a deletion, of the last value. */
function sizeOf(shown: Shown): number {
  if ("value" in shown) return shown.value.length;
  return "previous" in shown ? ((shown as StoreEvent).previous?.value.length ?? 0) : 0;
}

/** Ring buffer of the entries with cached forms, over all kinds. The oldest are evicted first. */
class Recent {
  readonly #places: (DerivedValues | undefined)[];
  readonly #shown: (Shown | undefined)[];
  readonly #sizes: Float64Array;
  readonly #mostBytes: number;
  /** Position of the oldest entry, number of entries, and total size of their values. */
  #oldest = 0;
  #count = 0;
  #bytes = 0;

  constructor(size: number, mostBytes: number) {
    this.#places = new Array<DerivedValues | undefined>(size);
    this.#shown = new Array<Shown | undefined>(size);
    this.#sizes = new Float64Array(size);
    this.#mostBytes = mostBytes;
  }

  get usage() {
    return { entries: this.#count, capacity: this.#shown.length };
  }

  add(place: DerivedValues, shown: Shown, bytes: number): void {
    while (this.#count > 0 && (this.#count === this.#shown.length || this.#bytes + bytes > this.#mostBytes)) {
      this.#forgetOldest();
    }
    const at = (this.#oldest + this.#count) % this.#shown.length;
    this.#places[at] = place;
    this.#shown[at] = shown;
    this.#sizes[at] = bytes;
    this.#bytes += bytes;
    this.#count += 1;
  }

  #forgetOldest(): void {
    const at = this.#oldest;
    const shown = this.#shown[at];
    if (shown !== undefined) this.#places[at]?.delete(shown);
    this.#places[at] = undefined;
    this.#shown[at] = undefined;
    this.#bytes -= this.#sizes[at] ?? 0;
    this.#oldest = (at + 1) % this.#shown.length;
    this.#count -= 1;
  }
}

class EntryViews implements ViewList {
  readonly #views: ResourceViews;
  readonly #entries: Sequence<Entry>;

  constructor(views: ResourceViews, entries: Sequence<Entry>) {
    this.#views = views;
    this.#entries = entries;
  }

  get length(): number {
    return this.#entries.length;
  }

  at(index: number): ObjectView | undefined {
    const entry = this.#entries.at(index);
    return entry && this.#views.view(entry);
  }

  *[Symbol.iterator](): Generator<ObjectView> {
    for (const entry of this.#entries) yield this.#views.view(entry);
  }
}
