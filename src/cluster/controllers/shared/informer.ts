import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { EntryReadings } from "../../../resources/read/entry-readings.ts";
import { type Follower, follow } from "../../../resources/read/follow.ts";
import type { Resources } from "../../../resources/resources.ts";
import { readShared } from "../../../resources/stored-kinds.ts";
import type { Entry } from "../../../storage/store.ts";
import { type Controller, keepRunning, type ReportProblem } from "./controller.ts";

/** Receives the changes of an informer. `before` is undefined for a new object, `after` for one that is gone. */
export type Observer<T> = (before: T | undefined, after: T | undefined) => void;

/** `namespace/name`, or the bare name of an object without a namespace. */
export function keyOf({ metadata: { namespace = "", name = "" } }: Pick<KubeObject, "metadata">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

interface Held<T> {
  readonly object: T;
  readonly revision: number;
}

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
}

/** Objects without managedFields, which no controller reads. Forked control planes share them. */
const trimmed = new EntryReadings<KubeObject>();

/**
 * All objects of a kind in their stored version, kept up to date by a watch. Several controllers share one. The objects
 * must not be changed.
 */
export class Informer<T extends KubeObject = KubeObject> implements Controller {
  readonly name: string;
  readonly resource: ServedResource;
  readonly #resources: Resources;
  readonly #report: ReportProblem;
  readonly #indexes: ObjectIndex<T>[] = [];
  readonly #byKeys = new Map<KeysOf<T>, Index<T>>();
  readonly #observers = new Set<Observer<T>>();
  readonly #held = new Map<string, Held<T>>();
  #users = 0;
  #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #loaded = Promise.withResolvers<void>();
  #isLoaded = false;
  #revision = 0;
  /** The revision up to which the watch has been read, also if only other kinds have changed since. */
  #progress: () => number = () => 0;
  #waiters: Waiter[] = [];

  constructor(resources: Resources, resource: ServedResource, report: ReportProblem) {
    this.name = `informer of ${resource.definition.plural}`;
    this.resource = resource;
    this.#resources = resources;
    this.#report = report;
  }

  get(key: string): T | undefined {
    return this.#held.get(key)?.object;
  }

  *all(): Generator<T> {
    for (const { object } of this.#held.values()) yield object;
  }

  /** The index by these keys. Controllers that pass the same function share it. */
  index(keysOf: KeysOf<T>): Index<T> {
    const known = this.#byKeys.get(keysOf);
    if (known) return known;
    const index = this.fill(new Index(keysOf));
    this.#byKeys.set(keysOf, index);
    return index;
  }

  /** Keeps an index up to date from now on. */
  fill<I extends ObjectIndex<T>>(index: I): I {
    for (const object of this.all()) index.change(undefined, object);
    this.#indexes.push(index);
    return index;
  }

  /**
   * Follows the store until the signal aborts, together with other users. Resolves once all objects are known, or when
   * the informer stops.
   */
  use(signal: AbortSignal): Promise<void> {
    if (this.#users++ === 0) {
      this.#stopping = new AbortController();
      const { signal: stopped } = this.#stopping;
      const before = this.#running;
      this.#running = before.then(() => keepRunning(this, stopped, this.#resources.clock, this.#report));
    }
    signal.addEventListener("abort", () => this.#leave(), { once: true });
    return this.#loaded.promise;
  }

  /** Calls the observer for each known object, then for each change. Returns a function that ends this. */
  observe(observer: Observer<T>): () => void {
    const own: Observer<T> = (before, after) => observer(before, after);
    if (this.#isLoaded) for (const object of this.all()) own(undefined, object);
    this.#observers.add(own);
    return () => void this.#observers.delete(own);
  }

  /** Resolves when a write with this resourceVersion is known, or when the informer stops. */
  sees(resourceVersion: string | undefined): Promise<void> {
    const revision = Number(resourceVersion ?? 0);
    if (revision <= this.#revision || this.#users === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ revision, resolve }));
  }

  /** Resolves when everything that is stored now is known, or when the informer stops. */
  async catchUp(): Promise<void> {
    const { store, keys } = this.#resources;
    const revision = await store.revision();
    // A cache in front of a remote store must reach the revision before its watches can.
    await store.get(keys.prefix(this.resource.definition), { minRevision: revision });
    while (this.#users > 0 && this.#progress() < revision) await nextTurn();
  }

  /** Resolves when a newer version of the object is known, or that it is gone, or when the informer stops. */
  async changes(object: T): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    for (;;) {
      const known = this.get(keyOf(object))?.metadata;
      if (this.#users === 0 || known?.uid !== uid || known?.resourceVersion !== resourceVersion) return;
      await new Promise<void>((resolve) => this.#waiters.push({ revision: this.#revision + 1, resolve }));
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#resources;
    await follow(store, keys.prefix(this.resource.definition), this.#follower(), signal);
  }

  #leave(): void {
    if (--this.#users > 0) return;
    this.#stopping.abort();
    this.#held.clear();
    for (const index of this.#indexes) index.clear();
    this.#isLoaded = false;
    this.#progress = () => 0;
    this.#loaded.resolve();
    this.#loaded = Promise.withResolvers();
    this.#advance(Number.POSITIVE_INFINITY);
    this.#revision = 0;
  }

  #follower(): Follower {
    const found = new Map<string, Held<T>>();
    return {
      found: (entry) => {
        const object = this.#read(entry);
        if (object) found.set(keyOf(object), { object, revision: entry.modRevision });
      },
      loaded: (revision, progress) => {
        this.#replace(found);
        this.#progress = progress;
        this.#isLoaded = true;
        this.#loaded.resolve();
        this.#advance(revision);
      },
      changed: (events, revision) => {
        for (const { key, entry } of events) this.#apply(key, entry);
        this.#advance(revision);
      },
    };
  }

  #apply(storeKey: string, entry: Entry | undefined): void {
    const object = entry && this.#read(entry);
    const { namespace, name } = this.#resources.keys.parse(this.resource.definition, storeKey);
    const held = entry && object && { object, revision: entry.modRevision };
    this.#set(keyOf({ metadata: { namespace, name } }), held);
  }

  #read(entry: Entry): T | undefined {
    return trimmed.of(entry, () => {
      const object = readShared(this.#resources.codec, entry);
      if (object === undefined) return undefined;
      const { managedFields: _, ...metadata } = object.metadata;
      return { ...object, metadata };
    }) as T | undefined;
  }

  /** The objects after a new list: reports the differences to the last known ones. */
  #replace(found: ReadonlyMap<string, Held<T>>): void {
    for (const key of [...this.#held.keys()]) if (!found.has(key)) this.#set(key, undefined);
    for (const [key, held] of found) if (this.#held.get(key)?.revision !== held.revision) this.#set(key, held);
  }

  #set(key: string, held: Held<T> | undefined): void {
    const before = this.#held.get(key)?.object;
    const after = held?.object;
    if (before === undefined && after === undefined) return;
    if (held) this.#held.set(key, held);
    else this.#held.delete(key);
    for (const index of this.#indexes) index.change(before, after);
    // A recreated object is another one.
    const isSame = before === undefined || after === undefined || before.metadata.uid === after.metadata.uid;
    for (const observer of this.#observers) {
      if (isSame) observer(before, after);
      else {
        observer(before, undefined);
        observer(undefined, after);
      }
    }
  }

  #advance(revision: number): void {
    this.#revision = revision;
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of waiters) if (waiter.revision <= revision) waiter.resolve();
  }
}

/** What an informer keeps up to date besides its objects. */
export interface ObjectIndex<T> {
  /** `before` is undefined for a new object, `after` for one that is gone. */
  change(before: T | undefined, after: T | undefined): void;
  clear(): void;
}

/** The keys under which an index has an object. */
export type KeysOf<T> = (object: T) => readonly string[];

/** Objects of an informer by a derived key. */
export class Index<T> implements ObjectIndex<T> {
  readonly #keysOf: KeysOf<T>;
  readonly #objects = new Map<string, Set<T>>();

  constructor(keysOf: KeysOf<T>) {
    this.#keysOf = keysOf;
  }

  get(key: string): Iterable<T> {
    return this.#objects.get(key) ?? [];
  }

  /** The number of objects with a key. */
  count(key: string): number {
    return this.#objects.get(key)?.size ?? 0;
  }

  has(key: string): boolean {
    return this.#objects.has(key);
  }

  change(before: T | undefined, after: T | undefined): void {
    if (before !== undefined) for (const key of this.#keysOf(before)) this.#remove(key, before);
    if (after !== undefined) for (const key of this.#keysOf(after)) this.#add(key, after);
  }

  clear(): void {
    this.#objects.clear();
  }

  #add(key: string, object: T): void {
    const known = this.#objects.get(key);
    if (known) known.add(object);
    else this.#objects.set(key, new Set([object]));
  }

  #remove(key: string, object: T): void {
    const known = this.#objects.get(key);
    known?.delete(object);
    if (known?.size === 0) this.#objects.delete(key);
  }
}
