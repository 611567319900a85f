import type { KubeObject, OwnerReference } from "../api/object.ts";
import type { ObjectCodec } from "../resources/model/object-codec.ts";
import type { Entry, StoreEvent } from "../storage/store.ts";
import { readObject } from "./stored-kinds.ts";

/** The finalizer of propagationPolicy Foreground: the object is removed only after its dependents. */
export const FOREGROUND = "foregroundDeletion";
/** The finalizer of propagationPolicy Orphan: dependents stay. */
export const ORPHAN = "orphan";

/**
 * What the garbage collector remembers of an object that has ownerReferences, or that waits for its dependents to go.
 */
export interface GraphNode {
  /** Where it is in the store. */
  readonly storeKey: string;
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
  /** The uids of ownerReferences with blockOwnerDeletion. */
  readonly blocks: readonly string[];
  /** It is being deleted and has the finalizer foregroundDeletion. */
  readonly isWaiting: boolean;
  /** An ownerReference names an owner that it cannot have, so it is never collected. */
  readonly isStuck: boolean;
}

/** The store key that an ownerReference points to, seen from a dependent. */
export type LocateOwner = (
  reference: OwnerReference,
  dependentKey: string,
) => { readonly storeKey: string } | "unknown" | "impossible";

/** That an owner exists, as one reader saw it. Becomes void when the owner goes. */
interface Sighting {
  readonly ownerKey: string;
  isConfirmed: boolean;
}

/** ownerReferences by uid. Holds only objects that have owners or wait for dependents, so it stays small. */
export class OwnerGraph {
  readonly #codec: ObjectCodec;
  readonly #enqueue: (storeKey: string) => void;
  readonly #locateOwner: LocateOwner;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<GraphNode>>();
  /** How many references have blockOwnerDeletion, by the owner's uid. */
  readonly #blocking = new Map<string, number>();
  readonly #waiting = new Map<string, GraphNode>();
  readonly #sightings = new Map<string, Sighting>();

  /** `enqueue` receives the keys of objects to look at. */
  constructor(codec: ObjectCodec, enqueue: (storeKey: string) => void, locateOwner: LocateOwner) {
    this.#codec = codec;
    this.#enqueue = enqueue;
    this.#locateOwner = locateOwner;
  }

  /** How many objects are remembered. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The objects with an ownerReference to this uid. */
  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])];
  }

  /** Whether an owner with foregroundDeletion has to wait for a dependent with blockOwnerDeletion. */
  isBlocked(uid: string): boolean {
    return this.#blocking.has(uid);
  }

  /** Whether an object with foregroundDeletion waits, through others that wait, for itself. */
  isInCircle(uid: string): boolean {
    const seen = new Set<string>();
    const open = [uid];
    for (let owner = open.pop(); owner !== undefined; owner = open.pop()) {
      for (const dependent of this.#dependents.get(owner) ?? []) {
        if (!dependent.isWaiting || !dependent.blocks.includes(owner)) continue;
        if (dependent.uid === uid) return true;
        if (!seen.has(dependent.uid)) open.push(dependent.uid);
        seen.add(dependent.uid);
      }
    }
    return false;
  }

  /** Whether any object has an ownerReference to this uid. */
  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** Takes note of an event of the store. */
  observe({ key, entry, previous }: StoreEvent): void {
    if (entry) this.found(entry);
    else this.#removed(key, previous);
  }

  /** Takes note of an entry that is in the store. */
  found(entry: Entry): void {
    const previous = this.#nodes.get(entry.key);
    const object = previous || this.#mayConcern(entry) ? readObject(this.#codec, entry) : undefined;
    if (previous && previous.uid !== object?.metadata.uid) this.#forget(previous);
    if (!object) return;
    const known = this.#nodes.get(entry.key);
    const next = this.#describe(entry.key, object);
    if (next || known) this.#replace(known, next);
    if (isFinalizing(object)) this.#enqueue(entry.key);
  }

  /** Whether an object can be of interest. Spares decoding most of them. */
  #mayConcern(entry: Entry): boolean {
    return this.#codec.mayHave(entry, OWNERS_MARK) || this.#codec.mayHave(entry, DELETION_MARK);
  }

  /**
   * Says that somebody is about to read the owner. The returned function is to be called when it was there: from then on
   * new dependents of it need not be looked at, until it goes.
   */
  sight(uid: string, ownerKey: string): () => void {
    // Without dependents nobody would notice the owner's end, so nothing may be remembered of it.
    if (!this.#dependents.has(uid)) return () => undefined;
    let sighting = this.#sightings.get(uid);
    if (sighting?.ownerKey !== ownerKey) {
      sighting = { ownerKey, isConfirmed: false };
      if (!this.#sightings.get(uid)?.isConfirmed) this.#sightings.set(uid, sighting);
    }
    const mine = sighting;
    // Were the owner gone since, this sighting would no longer be in the map, and confirming it would have no effect.
    return () => {
      mine.isConfirmed = true;
    };
  }

  #replace(known: GraphNode | undefined, next: GraphNode | undefined): void {
    const node = next ?? known;
    if (!node) return;
    if (known) this.#unlink(known);
    if (!next) {
      this.#nodes.delete(node.storeKey);
      this.#waiting.delete(node.uid);
    } else {
      this.#nodes.set(next.storeKey, next);
      this.#link(next);
      this.#settleWaiting(known, next);
    }
    const before = new Set(known?.owners.map(identityOf));
    const after = new Set(next?.owners.map(identityOf));
    const isDoubtful = (owner: OwnerReference) =>
      !before.has(identityOf(owner)) && this.#isDoubtful(owner, node.storeKey);
    // Unlike here, kube-controller-manager forgets an object with an owner that it cannot have, even when that ownerReference
    // goes. The others may be gone as well, so they are looked at.
    const isFreed = known?.isStuck === true && next?.isStuck === false;
    if (isFreed || next?.owners.some(isDoubtful)) this.#enqueue(node.storeKey);
    for (const owner of known?.owners ?? []) if (!after.has(identityOf(owner))) this.#enqueueWaiting(owner.uid);
  }

  #describe(storeKey: string, { metadata }: KubeObject): GraphNode | undefined {
    const owners = metadata.ownerReferences ?? [];
    const isWaiting = metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
    if (owners.length === 0 && !isWaiting) return undefined;
    // With an owner that it cannot have it is never collected, so whoever waited for it would wait for ever.
    const isStuck = owners.some((owner) => this.#locateOwner(owner, storeKey) === "impossible");
    const blocking = isStuck ? [] : owners.filter((owner) => owner.blockOwnerDeletion === true);
    const blocks = blocking.map(({ uid }) => uid);
    return { storeKey, uid: metadata.uid ?? "", owners, blocks, isWaiting, isStuck };
  }

  #settleWaiting(known: GraphNode | undefined, next: GraphNode): void {
    if (!next.isWaiting) {
      this.#waiting.delete(next.uid);
      return;
    }
    this.#waiting.set(next.uid, next);
    if (known?.isWaiting) return;
    for (const dependent of this.dependentsOf(next.uid)) this.#enqueue(dependent.storeKey);
  }

  /** Whether it must be looked up if the owner is there and staying. */
  #isDoubtful(owner: OwnerReference, dependentKey: string): boolean {
    const sighting = this.#sightings.get(owner.uid);
    if (!sighting?.isConfirmed || this.#waiting.has(owner.uid)) return true;
    const place = this.#locateOwner(owner, dependentKey);
    return typeof place === "string" || place.storeKey !== sighting.ownerKey;
  }

  #removed(storeKey: string, previous: Entry | undefined): void {
    const node = this.#nodes.get(storeKey);
    if (node) this.#forget(node);
    else if (previous && this.#dependents.size > 0) this.#departed(readObject(this.#codec, previous)?.metadata.uid);
  }

  #forget(node: GraphNode): void {
    this.#nodes.delete(node.storeKey);
    this.#waiting.delete(node.uid);
    this.#unlink(node);
    this.#departed(node.uid);
    for (const owner of node.owners) this.#enqueueWaiting(owner.uid);
  }

  #departed(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#sightings.delete(uid);
    for (const dependent of this.dependentsOf(uid)) this.#enqueue(dependent.storeKey);
  }

  #enqueueWaiting(uid: string): void {
    const waiting = this.#waiting.get(uid);
    if (waiting && !this.isBlocked(uid)) this.#enqueue(waiting.storeKey);
  }

  #link(node: GraphNode): void {
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(node);
      else this.#dependents.set(uid, new Set([node]));
    }
    for (const uid of node.blocks) this.#blocking.set(uid, (this.#blocking.get(uid) ?? 0) + 1);
  }

  #unlink(node: GraphNode): void {
    for (const uid of node.blocks) {
      const blocking = (this.#blocking.get(uid) ?? 0) - 1;
      if (blocking > 0) this.#blocking.set(uid, blocking);
      else this.#blocking.delete(uid);
    }
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(node);
      if (dependents?.size !== 0) continue;
      this.#dependents.delete(uid);
      this.#sightings.delete(uid);
    }
  }
}

const OWNERS_MARK = Buffer.from('"ownerReferences"');
const DELETION_MARK = Buffer.from('"deletionTimestamp"');

/** Whether the object is being deleted and has the finalizer foregroundDeletion or orphan. */
export function isFinalizing({ metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  return metadata.finalizers?.some((finalizer) => finalizer === FOREGROUND || finalizer === ORPHAN) ?? false;
}

function identityOf(owner: OwnerReference): string {
  const { uid, apiVersion, kind, name, blockOwnerDeletion } = owner;
  return `${uid} ${apiVersion} ${kind} ${name} ${blockOwnerDeletion === true}`;
}
