import type { ObjectView, ViewList, WatchEvent } from "../../api/reply.ts";
import type { Sequence } from "../../lib/sequence.ts";
import type { Entry, StoreEvent, WatchBatch } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { ObjectCodec } from "../model/object-codec.ts";
import { Derived, type DerivedCache, EntryView, Printer, type Shown } from "./object-view.ts";
import { readSelectable, type SelectableValues } from "./selectable.ts";

/**
 * Views of entries, for one control plane. Entries may be shared with others (two versions of a kind, a fork of the
 * store), so nothing is kept on them. What views have decoded or encoded stays while it is among the most recent, by
 * number and by bytes, which bounds what that costs in memory; what selectors read is small and stays as long as its entry. A view itself is made
 * whenever one is asked for: most copy stored bytes and need nothing from here.
 */
export class ViewCache {
  readonly #codec: ObjectCodec;
  readonly #recent: Recent;
  readonly #resources = new WeakMap<ServedResource, ResourceViews>();

  constructor(codec: ObjectCodec, size = 1024, mostBytes = 8 * 1024 * 1024) {
    this.#codec = codec;
    this.#recent = new Recent(size, mostBytes);
  }

  /** Of how many entries something derived is kept, and of how many it can be. */
  get usage(): { readonly entries: number; readonly capacity: number } {
    return this.#recent.usage;
  }

  /** The views in one served version. Whoever shows many entries asks once. */
  of(resource: ServedResource): ResourceViews {
    let views = this.#resources.get(resource);
    if (!views) {
      views = new ResourceViews(new Printer(resource, this.#codec), this.#recent);
      this.#resources.set(resource, views);
    }
    return views;
  }

  /** Shows an entry in one served version. */
  view(resource: ServedResource, entry: Entry): ObjectView {
    return this.of(resource).view(entry);
  }

  /** Shows many entries; each view is made when it is asked for. */
  list(resource: ServedResource, entries: Sequence<Entry>): ViewList {
    return this.of(resource).list(entries);
  }
}

/** Shows entries in one served version. */
export interface EntryViewer {
  view(entry: Entry): ObjectView;
  /** Shows the last state of an object that an event deleted, at the revision of the event. */
  deletedView(event: StoreEvent): ObjectView;
  /** What selectors read of an entry. */
  selectable(entry: Entry): SelectableValues;
}

/** Views in one served version of a kind. */
export class ResourceViews implements EntryViewer, DerivedCache {
  readonly #printer: Printer;
  readonly #recent: Recent;
  readonly #derived: DerivedValues = new Map();
  readonly #selectable = new WeakMap<Entry, SelectableValues>();
  readonly #unchanged = new WeakMap<Entry, boolean>();
  readonly #events = new WeakMap<WatchBatch, readonly WatchEvent[]>();
  readonly #converted = new WeakMap<WatchBatch, Promise<EntryViewer>>();

  constructor(printer: Printer, recent: Recent) {
    this.#printer = printer;
    this.#recent = recent;
  }

  view(entry: Entry): ObjectView {
    return new EntryView(this.#printer, entry, this);
  }

  list(entries: Sequence<Entry>): ViewList {
    return new EntryViews(this, entries);
  }

  deletedView(event: StoreEvent): ObjectView {
    if (!event.previous) throw new Error("a deletion without a previous state cannot be shown");
    return new EntryView(this.#printer, event.previous, this, event);
  }

  /** Shows the last state of an object that was removed at a revision, to the one who removed it. */
  removed(entry: Entry, revision: number): ObjectView {
    return new EntryView(this.#printer, entry, undefined, { revision });
  }

  /** The object need not be decoded for it again. */
  selectable(entry: Entry): SelectableValues {
    let selectable = this.#selectable.get(entry);
    if (!selectable) {
      // The object is not worth keeping when it is decoded for this.
      const object = this.#derived.get(entry)?.object ?? new EntryView(this.#printer, entry).object;
      selectable = readSelectable(this.#printer.resource, object);
      this.#selectable.set(entry, selectable);
    }
    return selectable;
  }

  /** Whether an entry is shown in the version it is stored in, from its own bytes. */
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

  /** What the events of one batch look like to those who select everything; shared by all watchers of a prefix. */
  events(batch: WatchBatch, translate: () => readonly WatchEvent[]): readonly WatchEvent[] {
    let events = this.#events.get(batch);
    if (!events) {
      events = translate();
      this.#events.set(batch, events);
    }
    return events;
  }

  /** Views of what one batch is about that had to be converted; shared by all watchers of a prefix. */
  converted(batch: WatchBatch, convert: () => Promise<EntryViewer>): Promise<EntryViewer> {
    let viewer = this.#converted.get(batch);
    if (!viewer) {
      viewer = convert();
      this.#converted.set(batch, viewer);
      // Whoever comes back after a failure tries again.
      viewer.catch(() => this.#converted.delete(batch));
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

type DerivedValues = Map<Shown, Derived>;

/** How long the value is that something is made of; a deletion holds the last one. */
function sizeOf(shown: Shown): number {
  if ("value" in shown) return shown.value.length;
  return "previous" in shown ? ((shown as StoreEvent).previous?.value.length ?? 0) : 0;
}

/** For which entries something was kept last, over all kinds. The oldest ones make room for the next. */
class Recent {
  readonly #places: (DerivedValues | undefined)[];
  readonly #shown: (Shown | undefined)[];
  readonly #sizes: Float64Array;
  readonly #mostBytes: number;
  /** Where the oldest one is, how many there are, and how long their values are together. */
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
