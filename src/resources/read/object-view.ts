import type { KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import type { Entry } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import { coerceStored, convertObject } from "../model/conversion.ts";
import type { ObjectCodec } from "../model/object-codec.ts";
import { RecentObjects } from "../model/recent-objects.ts";
import { strategyOf } from "../strategies/strategy-of.ts";

const text = new TextEncoder();

/** The objects decoded last that are not served as stored, by entry and version. */
const recent = new RecentObjects<Entry, Printer>();

/** Decodes and prints objects of one served version. Created once per version. */
export class Printer {
  readonly resource: ServedResource;
  readonly codec: ObjectCodec;
  /** The start of a stored value that can be served without decoding. */
  readonly #head: Buffer;
  /** The replacement of this start in list items. */
  readonly itemHead: Buffer;
  /** Whether all such values can be served unchanged. Otherwise only those that the current schema leaves unchanged. */
  readonly servesStoredBytes: boolean;

  constructor(resource: ServedResource, codec: ObjectCodec) {
    this.resource = resource;
    this.codec = codec;
    const { servesStoredBytes, isUnstructured } = strategyOf(resource.definition);
    this.servesStoredBytes = servesStoredBytes;
    const { kind } = resource.definition;
    this.#head = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":"${resource.apiVersion}","metadata":{`);
    // Compat: the items of an UnstructuredList have their kind and apiVersion.
    this.itemHead = isUnstructured ? this.#head : ITEM_HEAD;
  }

  /**
   * The offset of the first metadata member in a stored value, or 0 if the value has another form or version. Example:
   * `{"kind":"X","apiVersion":"v1","metadata":{"name":…` returns the offset of `"name"`.
   */
  spliceAt(value: Uint8Array): number {
    const head = this.#head;
    const size = head.length;
    if (value.length <= size || value[size] !== 0x22) return 0;
    // For so few bytes a loop is faster than Buffer.compare.
    for (let i = 0; i < size; i++) if (value[i] !== head[i]) return 0;
    return size;
  }

  get head(): Buffer {
    return this.#head;
  }

  /** The object of an entry in this version. Shared with others who read it soon: do not modify. */
  read(entry: Entry): KubeObject {
    const { value } = entry;
    if (this.servesStoredBytes && this.spliceAt(value) > 0) return this.codec.share(entry);
    return recent.get(entry, this, value.length, () => {
      const { definition, apiVersion } = this.resource;
      return convertObject(definition, coerceStored(definition, this.codec.read(entry)), apiVersion);
    });
  }

  /** Whether the current schema leaves an object of this version unchanged: nothing is pruned or defaulted. */
  isUnchanged(entry: Entry): boolean {
    const { value } = entry;
    const now = this.codec.write(this.read(entry));
    return Buffer.compare(now, value.subarray(0, endOf(value))) === 0;
  }

  /** Encodes an object as a list item. */
  itemBytes(object: KubeObject): Uint8Array {
    return itemBytes(object, this.itemHead !== ITEM_HEAD);
  }
}

const ITEM_HEAD = Buffer.from('{"metadata":{');

/** The deletion of an object: the store event, or just its revision. */
interface Deletion {
  readonly revision: number;
}

/** What a view shows: an entry, or the deletion of its object. */
export type Shown = Entry | Deletion;

/** Cached representations of an entry that cannot be copied from its stored bytes. */
export class Derived {
  object: KubeObject | undefined;
  json: Uint8Array | undefined;
  itemJson: Uint8Array | undefined;
  encodings: Map<string, Uint8Array> | undefined;
}

/** Cache of representations that views of the same entry share. */
export interface DerivedCache {
  derived(shown: Shown): Derived;
  /** Whether the current schema leaves a stored object unchanged. Computed once per entry. */
  isUnchanged(entry: Entry): boolean;
}

/** A stored object in one served version, decoded and encoded on demand. Lists create one per item, so it is small. */
export class EntryView implements ObjectView {
  readonly #printer: Printer;
  readonly #entry: Entry;
  readonly #cache: DerivedCache | undefined;
  readonly #deletion: Deletion | undefined;
  /** The offset for splicing the stored value. 0: impossible; -1: not computed yet. */
  #spliceAt = -1;
  #derived: Derived | undefined;

  /** With `deletion`, the view shows the last state of the object at the revision of its deletion. */
  constructor(printer: Printer, entry: Entry, cache?: DerivedCache, deletion?: Deletion) {
    this.#printer = printer;
    this.#entry = entry;
    this.#cache = cache;
    this.#deletion = deletion;
  }

  get object(): KubeObject {
    const derived = this.#derive();
    derived.object ??= this.#read();
    return derived.object;
  }

  #read(): KubeObject {
    const object = this.#printer.read(this.#entry);
    if (this.#deletion === undefined) return object;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  get stored(): { readonly bytes: number; readonly isCopied: boolean } {
    return { bytes: this.#entry.value.length, isCopied: this.#findSplice() > 0 };
  }

  get encodings(): Map<string, Uint8Array> {
    const derived = this.#derive();
    derived.encodings ??= new Map();
    return derived.encodings;
  }

  get #revision(): number {
    return this.#deletion?.revision ?? this.#entry.modRevision;
  }

  #derive(): Derived {
    this.#derived ??= this.#cache?.derived(this.#deletion ?? this.#entry) ?? new Derived();
    return this.#derived;
  }

  json(): Uint8Array {
    const at = this.#findSplice();
    if (at > 0) return this.#splice(this.#printer.head, at);
    const derived = this.#derive();
    derived.json ??= text.encode(JSON.stringify(this.object));
    return derived.json;
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
    return at > 0 ? this.#splice(this.#printer.itemHead, at) : this.#wholeItem();
  }

  itemSize(): number {
    const at = this.#findSplice();
    return at > 0 ? this.#splicedSize(this.#printer.itemHead, at) : this.#wholeItem().length;
  }

  writeItem(target: Uint8Array, start: number): number {
    const at = this.#findSplice();
    if (at === 0) return writeBytes(this.#wholeItem(), target, start);
    const room = target.length - start - MAX_ITEM_GROWTH;
    return room < this.#entry.value.length ? -1 : this.#spliceInto(target, start, this.#printer.itemHead, at);
  }

  #findSplice(): number {
    if (this.#spliceAt < 0) {
      const at = this.#printer.spliceAt(this.#entry.value);
      this.#spliceAt = at === 0 || this.#printer.servesStoredBytes || this.#isUnchanged() ? at : 0;
    }
    return this.#spliceAt;
  }

  #isUnchanged(): boolean {
    return this.#cache?.isUnchanged(this.#entry) ?? this.#printer.isUnchanged(this.#entry);
  }

  #wholeItem(): Uint8Array {
    const derived = this.#derive();
    derived.itemJson ??= this.#printer.itemBytes(this.object);
    return derived.itemJson;
  }

  #splicedSize(head: Buffer, at: number): number {
    return head.length + VERSION_HEAD.length + digitsOf(this.#revision) + 2 + endOf(this.#entry.value) - at;
  }

  #splice(head: Buffer, at: number): Buffer {
    // The buffer has no room for a trailing line feed, so none is copied.
    const out = Buffer.allocUnsafe(this.#splicedSize(head, at));
    this.#spliceInto(out, 0, head, at);
    return out;
  }

  /** Writes the head, the revision and the stored value from `from` on. Loops are used where calls would be slower. */
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
    // Checked in the target instead of the value, because the target is in the CPU cache.
    return target[at - 1] === LINE_FEED ? at - 1 : at;
  }
}

/** Maximum growth of a stored value: a revision, and a head that replaces another one. */
const MAX_ITEM_GROWTH = 64;
/** kube-apiserver ends stored values with a line feed, which would split a watch event. */
const LINE_FEED = 0x0a;

const VERSION_HEAD = Buffer.from('"resourceVersion":"');
// Works on every Uint8Array and needs no subarray of the copied part.
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

function itemBytes(object: KubeObject, keepsKind: boolean): Uint8Array {
  if (keepsKind) return text.encode(JSON.stringify(object));
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return text.encode(JSON.stringify(rest));
}

/**
 * Returns a view of an object that is not stored (yet): dry runs, reviews, computed objects. `keepsKind`: list items
 * include kind and apiVersion.
 */
export function viewObject(object: KubeObject, keepsKind = false): ObjectView {
  return new ValueView(object, keepsKind);
}

class ValueView implements ObjectView {
  readonly encodings = new Map<string, Uint8Array>();
  readonly object: KubeObject;
  readonly #keepsKind: boolean;
  #json: Uint8Array | undefined;
  #itemJson: Uint8Array | undefined;

  constructor(object: KubeObject, keepsKind: boolean) {
    this.object = object;
    this.#keepsKind = keepsKind;
  }

  json(): Uint8Array {
    this.#json ??= text.encode(JSON.stringify(this.object));
    return this.#json;
  }

  itemJson(): Uint8Array {
    this.#itemJson ??= itemBytes(this.object, this.#keepsKind);
    return this.#itemJson;
  }

  itemSize(): number {
    return this.itemJson().length;
  }

  writeItem(target: Uint8Array, at: number): number {
    return writeBytes(this.itemJson(), target, at);
  }
}
