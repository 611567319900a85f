import type { KubeObject } from "../api/object.ts";
import type { ObjectView } from "../api/reply.ts";
import { parseJson } from "../encoding/json.ts";
import type { Entry } from "../storage/store.ts";
import type { ServedResource } from "./catalog.ts";
import { convertObject } from "./conversion.ts";

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
    const size = this.#head.length;
    if (value.length <= size || value[size] !== 0x22) return 0;
    return this.#head.compare(value, 0, size) === 0 ? size : 0;
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

/** Parses a stored value. The caller owns the result. */
export function decodeEntry(entry: Entry, revision: number = entry.modRevision): KubeObject {
  const object = parseJson(entry.value) as KubeObject;
  object.metadata.resourceVersion = String(revision);
  return object;
}

/** The bytes to store: kind, apiVersion and metadata first, no resourceVersion inside. */
export function encodeObject(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...storedMetadata } = metadata;
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: storedMetadata, ...rest }));
}

/** An object of the store in one served version; decoded and encoded only when somebody asks. */
class EntryView implements ObjectView {
  readonly encodings = new Map<string, Uint8Array>();
  readonly #printer: Printer;
  readonly #entry: Entry;
  readonly #revision: number;
  #object: KubeObject | undefined;
  #json: Uint8Array | undefined;

  constructor(printer: Printer, entry: Entry, revision: number) {
    this.#printer = printer;
    this.#entry = entry;
    this.#revision = revision;
  }

  get object(): KubeObject {
    if (!this.#object) {
      const { definition, apiVersion } = this.#printer.resource;
      this.#object = convertObject(definition, decodeEntry(this.#entry, this.#revision), apiVersion);
    }
    return this.#object;
  }

  json(): Uint8Array {
    this.#json ??= this.#splice(this.#printer.head) ?? text.encode(JSON.stringify(this.object));
    return this.#json;
  }

  itemJson(): Uint8Array {
    return this.#splice(ITEM_HEAD) ?? itemBytes(this.object);
  }

  #splice(head: Buffer): Buffer | undefined {
    const at = this.#printer.spliceAt(this.#entry.value);
    if (at === 0) return undefined;
    const version = `"resourceVersion":"${this.#revision}",`;
    const { value } = this.#entry;
    // kube-apiserver ends what it stores with a line feed, which would cut a watch event in two.
    const end = value.at(-1) === 0x0a ? value.length - 1 : value.length;
    const out = Buffer.allocUnsafe(head.length + version.length + end - at);
    head.copy(out);
    out.write(version, head.length, "latin1");
    out.set(value.subarray(at, end), head.length + version.length);
    return out;
  }
}

function itemBytes(object: KubeObject): Uint8Array {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return text.encode(JSON.stringify(rest));
}

/** What is kept with an entry: its view in the version that was asked for last. */
interface EntryMemo {
  readonly resource: ServedResource;
  readonly view: ObjectView;
}

/** Views of entries, kept with the entry while it is among the most recently viewed. Bounds what decoding costs in memory. */
export class ViewCache {
  readonly #recent: (Entry | undefined)[];
  #at = 0;

  constructor(size = 4096) {
    this.#recent = new Array<Entry | undefined>(size);
  }

  /** Shows an entry in one served version. */
  view(resource: ServedResource, entry: Entry): ObjectView {
    const memo = entry.memo as EntryMemo | undefined;
    if (memo?.resource === resource) return memo.view;
    const view = new EntryView(printerOf(resource), entry, entry.modRevision);
    if (memo === undefined) this.#keep(entry);
    entry.memo = { resource, view } satisfies EntryMemo;
    return view;
  }

  #keep(entry: Entry): void {
    const evicted = this.#recent[this.#at];
    if (evicted) evicted.memo = undefined;
    this.#recent[this.#at] = entry;
    this.#at = (this.#at + 1) % this.#recent.length;
  }
}

/** Shows the last state of a deleted object, at the revision of its deletion. */
export function viewDeleted(resource: ServedResource, entry: Entry, revision: number): ObjectView {
  return new EntryView(printerOf(resource), entry, revision);
}

/** Shows an object that is not (or not yet) in the store: answers to dry runs, reviews, computed objects. */
export function viewObject(object: KubeObject): ObjectView {
  return new ValueView(object);
}

class ValueView implements ObjectView {
  readonly encodings = new Map<string, Uint8Array>();
  readonly object: KubeObject;
  #json: Uint8Array | undefined;

  constructor(object: KubeObject) {
    this.object = object;
  }

  json(): Uint8Array {
    this.#json ??= text.encode(JSON.stringify(this.object));
    return this.#json;
  }

  itemJson(): Uint8Array {
    return itemBytes(this.object);
  }
}
