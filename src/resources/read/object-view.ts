import type { KubeObject } from "../../api/object.ts";
import type { ObjectView, ViewList } from "../../api/reply.ts";
import type { Sequence } from "../../lib/sequence.ts";
import type { Entry, StoreEvent } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import { convertObject } from "../model/conversion.ts";
import { decodeEntry } from "../model/stored-object.ts";
import { type Attributes, readAttributes } from "./attributes.ts";

const text = new TextEncoder();

/** How the objects of one served version are printed. Built once per version. */
class Printer {
  readonly resource: ServedResource;
  /** What every stored value begins with when it can be served without decoding it. */
  readonly #head: Buffer;

  constructor(resource: ServedResource) {
    this.resource = resource;
    const { kind } = resource.definition;
    this.#head = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":"${resource.apiVersion}","metadata":{`);
  }

  /**
   * Where the first member of the metadata begins in a stored value, or 0 when the value has another form or version.
   * By example: `{"kind":"X","apiVersion":"v1","metadata":{"name":…` gives the offset of `"name"`.
   */
  spliceAt(value: Uint8Array): number {
    const head = this.#head;
    const size = head.length;
    if (value.length <= size || value[size] !== 0x22) return 0;
    // A call of Buffer.compare costs more than the few bytes do.
    for (let i = 0; i < size; i++) if (value[i] !== head[i]) return 0;
    return size;
  }

  get head(): Buffer {
    return this.#head;
  }
}

const ITEM_HEAD = Buffer.from('{"metadata":{');
const printers = new WeakMap<ServedResource, Printer>();

function printerOf(resource: ServedResource): Printer {
  let printer = printers.get(resource);
  if (!printer) {
    printer = new Printer(resource);
    printers.set(resource, printer);
  }
  return printer;
}

/** What a view can be kept with. */
interface Holder {
  memo?: unknown;
}

/** What has ended an object. */
interface Deletion extends Holder {
  readonly revision: number;
}

/** What a view has made that could not simply be copied. */
interface Made {
  object: KubeObject | undefined;
  json: Uint8Array | undefined;
  itemJson: Uint8Array | undefined;
  encodings: Map<string, Uint8Array> | undefined;
}

/**
 * An object of the store in one served version; decoded and encoded only when somebody asks. Lists make one for every
 * item, so it is small and does little until then.
 */
class EntryView implements ObjectView {
  readonly #printer: Printer;
  readonly #entry: Entry;
  readonly #cache: ViewCache | undefined;
  readonly #deletion: Deletion | undefined;
  /** Where the stored value can be spliced; 0: nowhere; -1: not looked yet. */
  #spliceAt = -1;
  #made: Made | undefined;

  /** `cache` is told when the view has made something that is worth keeping. */
  constructor(printer: Printer, entry: Entry, cache?: ViewCache, deletion?: Deletion) {
    this.#printer = printer;
    this.#entry = entry;
    this.#cache = cache;
    this.#deletion = deletion;
  }

  get object(): KubeObject {
    const made = this.#make();
    if (!made.object) {
      const { definition, apiVersion } = this.#printer.resource;
      made.object = convertObject(definition, decodeEntry(this.#entry, this.#revision), apiVersion);
    }
    return made.object;
  }

  get encodings(): Map<string, Uint8Array> {
    const made = this.#make();
    made.encodings ??= new Map();
    return made.encodings;
  }

  get #revision(): number {
    return this.#deletion?.revision ?? this.#entry.modRevision;
  }

  #make(): Made {
    if (!this.#made) {
      this.#made = { object: undefined, json: undefined, itemJson: undefined, encodings: undefined };
      this.#cache?.keep(this.#printer.resource, this.#deletion ?? this.#entry, this);
    }
    return this.#made;
  }

  json(): Uint8Array {
    const at = this.#findSplice();
    if (at > 0) return this.#splice(this.#printer.head, at);
    const made = this.#make();
    made.json ??= text.encode(JSON.stringify(this.object));
    return made.json;
  }

  jsonLine(): Uint8Array | undefined {
    const at = this.#findSplice();
    if (at === 0) return undefined;
    const { head } = this.#printer;
    const out = Buffer.allocUnsafe(this.#splicedSize(head, at) + 1);
    out[this.#spliceInto(out, 0, head, at)] = LINE_FEED;
    return out;
  }

  itemJson(): Uint8Array {
    const at = this.#findSplice();
    return at > 0 ? this.#splice(ITEM_HEAD, at) : this.#wholeItem();
  }

  itemSize(): number {
    const at = this.#findSplice();
    return at > 0 ? this.#splicedSize(ITEM_HEAD, at) : this.#wholeItem().length;
  }

  writeItem(target: Uint8Array, start: number): number {
    const at = this.#findSplice();
    if (at === 0) return writeBytes(this.#wholeItem(), target, start);
    const room = target.length - start - MAX_ITEM_GROWTH;
    return room < this.#entry.value.length ? -1 : this.#spliceInto(target, start, ITEM_HEAD, at);
  }

  #findSplice(): number {
    if (this.#spliceAt < 0) this.#spliceAt = this.#printer.spliceAt(this.#entry.value);
    return this.#spliceAt;
  }

  #wholeItem(): Uint8Array {
    const made = this.#make();
    made.itemJson ??= itemBytes(this.object);
    return made.itemJson;
  }

  #splicedSize(head: Buffer, at: number): number {
    return head.length + VERSION_HEAD.length + digitsOf(this.#revision) + 2 + endOf(this.#entry.value) - at;
  }

  #splice(head: Buffer, at: number): Buffer {
    // There is no room for a line feed at the end, so none is copied.
    const out = Buffer.allocUnsafe(this.#splicedSize(head, at));
    this.#spliceInto(out, 0, head, at);
    return out;
  }

  /** The stored value from `from` on, after another head and the revision. Byte by byte where calls would cost more. */
  #spliceInto(target: Uint8Array, start: number, head: Buffer, from: number): number {
    let at = start;
    for (let i = 0; i < head.length; i++) target[at++] = head[i] as number;
    for (let i = 0; i < VERSION_HEAD.length; i++) target[at++] = VERSION_HEAD[i] as number;
    const revision = this.#revision;
    const digits = digitsOf(revision);
    for (let i = digits - 1, rest = revision; i >= 0; i--) {
      const next = Math.floor(rest / 10);
      target[at + i] = 0x30 + rest - next * 10;
      rest = next;
    }
    at += digits;
    target[at++] = 0x22;
    target[at++] = 0x2c;
    const { value } = this.#entry;
    copyBytes.call(value, target, at, from, value.length);
    at += value.length - from;
    // Looked at here and not in the value: what was just written is at hand, the end of the value is far away.
    return target[at - 1] === LINE_FEED ? at - 1 : at;
  }
}

/** More than this is never added to a stored value: a head, a revision. */
const MAX_ITEM_GROWTH = 64;
/** kube-apiserver ends what it stores with a line feed, which would cut a watch event in two. */
const LINE_FEED = 0x0a;

const VERSION_HEAD = Buffer.from('"resourceVersion":"');
// Works on every Uint8Array, and needs no view of the part that is copied.
const copyBytes = Buffer.prototype.copy;

function digitsOf(revision: number): number {
  let digits = 1;
  for (let bound = 10; revision >= bound; bound *= 10) digits++;
  return digits;
}

function endOf(value: Uint8Array): number {
  return value[value.length - 1] === LINE_FEED ? value.length - 1 : value.length;
}

function writeBytes(bytes: Uint8Array, target: Uint8Array, at: number): number {
  if (bytes.length > target.length - at) return -1;
  target.set(bytes, at);
  return at + bytes.length;
}

function itemBytes(object: KubeObject): Uint8Array {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return text.encode(JSON.stringify(rest));
}

/** What is kept with an entry: its view in the version that was asked for last, and what selectors read of it. */
interface Memo {
  readonly resource: ServedResource;
  view: ObjectView | undefined;
  attributes: Attributes | undefined;
}

/**
 * Views of entries. Those that have decoded or encoded something are kept with their entry while they are among the
 * most recent ones, which bounds what that costs in memory; what selectors read is small and kept with every entry.
 */
export class ViewCache {
  readonly #recent: (Holder | undefined)[];
  #at = 0;

  constructor(size = 1024) {
    this.#recent = new Array<Holder | undefined>(size);
  }

  /** Shows an entry in one served version. */
  view(resource: ServedResource, entry: Entry): ObjectView {
    const memo = entry.memo as Memo | undefined;
    if (memo?.view !== undefined && memo.resource === resource) return memo.view;
    return new EntryView(printerOf(resource), entry, this);
  }

  /** Shows many entries; each view is made when it is asked for. */
  list(resource: ServedResource, entries: Sequence<Entry>): ViewList {
    return new EntryViews(this, resource, entries);
  }

  /** Shows the last state of an object that an event deleted, at the revision of the event. */
  deletedView(resource: ServedResource, event: StoreEvent): ObjectView {
    if (!event.previous) throw new Error("a deletion without a previous state cannot be shown");
    const memo = event.memo as Memo | undefined;
    if (memo?.view !== undefined && memo.resource === resource) return memo.view;
    return new EntryView(printerOf(resource), event.previous, this, event);
  }

  /** What selectors read of an entry. The object need not be decoded for it again. */
  attributes(resource: ServedResource, entry: Entry): Attributes {
    const memo = entry.memo as Memo | undefined;
    const known = memo?.resource === resource ? memo : undefined;
    if (known?.attributes !== undefined) return known.attributes;
    // A view of its own: the decoded object is not worth keeping for it.
    const { object } = known?.view ?? new EntryView(printerOf(resource), entry);
    const attributes = readAttributes(resource, object);
    if (known) known.attributes = attributes;
    else entry.memo = { resource, view: undefined, attributes } satisfies Memo;
    return attributes;
  }

  /** Keeps a view with what it shows for a while. */
  keep(resource: ServedResource, holder: Holder, view: ObjectView): void {
    const memo = holder.memo as Memo | undefined;
    if (memo?.view === view) return;
    if (memo?.view === undefined) this.#remember(holder);
    const attributes = memo?.resource === resource ? memo.attributes : undefined;
    holder.memo = { resource, view, attributes } satisfies Memo;
  }

  #remember(holder: Holder): void {
    const memo = this.#recent[this.#at]?.memo as Memo | undefined;
    if (memo) memo.view = undefined;
    this.#recent[this.#at] = holder;
    this.#at = (this.#at + 1) % this.#recent.length;
  }
}

class EntryViews implements ViewList {
  readonly #cache: ViewCache;
  readonly #resource: ServedResource;
  readonly #entries: Sequence<Entry>;

  constructor(cache: ViewCache, resource: ServedResource, entries: Sequence<Entry>) {
    this.#cache = cache;
    this.#resource = resource;
    this.#entries = entries;
  }

  get length(): number {
    return this.#entries.length;
  }

  at(index: number): ObjectView | undefined {
    const entry = this.#entries.at(index);
    return entry && this.#cache.view(this.#resource, entry);
  }

  *[Symbol.iterator](): Generator<ObjectView> {
    for (const entry of this.#entries) yield this.#cache.view(this.#resource, entry);
  }
}

/** Shows the last state of a deleted object, at the revision of its deletion. */
export function viewDeleted(resource: ServedResource, entry: Entry, revision: number): ObjectView {
  return new EntryView(printerOf(resource), entry, undefined, { revision });
}

/** Shows an object that is not (or not yet) in the store: answers to dry runs, reviews, computed objects. */
export function viewObject(object: KubeObject): ObjectView {
  return new ValueView(object);
}

class ValueView implements ObjectView {
  readonly encodings = new Map<string, Uint8Array>();
  readonly object: KubeObject;
  #json: Uint8Array | undefined;
  #itemJson: Uint8Array | undefined;

  constructor(object: KubeObject) {
    this.object = object;
  }

  json(): Uint8Array {
    this.#json ??= text.encode(JSON.stringify(this.object));
    return this.#json;
  }

  itemJson(): Uint8Array {
    this.#itemJson ??= itemBytes(this.object);
    return this.#itemJson;
  }

  itemSize(): number {
    return this.itemJson().length;
  }

  writeItem(target: Uint8Array, at: number): number {
    return writeBytes(this.itemJson(), target, at);
  }
}
