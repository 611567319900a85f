import type { KubeObject, OwnerReference } from "../../../../base/api/object.ts";
import type { ObjectCodec } from "../../../../resources/model/object-codec.ts";
import { readShared } from "../../../../resources/stored-kinds.ts";
import type { Entry, StoreEvent } from "../../../../storage/store.ts";

/** The finalizer of propagationPolicy Foreground: the object is removed only after its dependents. */
export const FOREGROUND = "foregroundDeletion";
/** The finalizer of propagationPolicy Orphan: dependents stay. */
export const ORPHAN = "orphan";

/** An object that has ownerReferences, or waits for the deletion of its dependents. */
export interface GraphNode {
  /** Its key in the store. */
  readonly storeKey: string;
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
  /** The uids of ownerReferences with blockOwnerDeletion. */
  readonly blocks: readonly string[];
  /** It is being deleted and has the finalizer foregroundDeletion. */
  readonly isWaiting: boolean;
  /**
   * An ownerReference is impossible (namespaced owner of a cluster-scoped object), so the object is never collected.
   */
  readonly isStuck: boolean;
}

/** Returns the store key that an ownerReference of a dependent points to. */
export type LocateOwner = (
  reference: OwnerReference,
  dependentKey: string,
) => { readonly storeKey: string } | "unknown" | "impossible";

/** An observation that an owner exists. It is dropped when the owner is deleted. */
interface Sighting {
  readonly ownerKey: string;
  isConfirmed: boolean;
}

/** ownerReferences by uid. Contains only objects that have owners or wait for dependents, so it stays small. */
export class OwnerGraph {
  readonly #codec: ObjectCodec;
  readonly #enqueue: (storeKey: string) => void;
  readonly #locateOwner: LocateOwner;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<GraphNode>>();
  /** Number of references with blockOwnerDeletion, by the owner's uid. */
  readonly #blocking = new Map<string, number>();
  readonly #waiting = new Map<string, GraphNode>();
  readonly #sightings = new Map<string, Sighting>();

  /** `enqueue` receives the keys of objects to process. */
  constructor(codec: ObjectCodec, enqueue: (storeKey: string) => void, locateOwner: LocateOwner) {
    this.#codec = codec;
    this.#enqueue = enqueue;
    this.#locateOwner = locateOwner;
  }

  /** Number of objects in the graph. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The objects with an ownerReference to this uid. */
  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])];
  }

  /** Whether an owner with foregroundDeletion must wait for a dependent with blockOwnerDeletion. */
  isBlocked(uid: string): boolean {
    return this.#blocking.has(uid);
  }

  /** Whether an object with foregroundDeletion waits for itself, through other waiting objects. */
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

  /** Processes a store event. */
  observe({ key, entry, previous }: StoreEvent): void {
    if (entry) this.found(entry);
    else this.#removed(key, previous);
  }

  /** Processes a stored entry. */
  found(entry: Entry): void {
    const previous = this.#nodes.get(entry.key);
    const object = previous || this.#mayConcern(entry) ? readShared(this.#codec, entry) : undefined;
    if (previous && previous.uid !== object?.metadata.uid) this.#forget(previous);
    if (!object) return;
    const known = this.#nodes.get(entry.key);
    const next = this.#describe(entry.key, object);
    if (!isSameNode(known, next)) this.#replace(known, next);
    if (isFinalizing(object)) this.#enqueue(entry.key);
  }

  /** Whether an entry may be relevant. Avoids decoding most of them. */
  #mayConcern(entry: Entry): boolean {
    return this.#codec.mayHave(entry, OWNERS_MARK) || this.#codec.mayHave(entry, DELETION_MARK);
  }

  /**
   * Call it before reading an owner, and call the returned function if the owner exists. From then on, new dependents
   * of the owner need no check until it is deleted.
   */
  sight(uid: string, ownerKey: string): () => void {
    // Without dependents, the deletion of the owner would not be noticed, so nothing is remembered.
    if (!this.#dependents.has(uid)) return () => undefined;
    let sighting = this.#sightings.get(uid);
    if (sighting?.ownerKey !== ownerKey) {
      sighting = { ownerKey, isConfirmed: false };
      if (!this.#sightings.get(uid)?.isConfirmed) this.#sightings.set(uid, sighting);
    }
    const mine = sighting;
    // If the owner was deleted meanwhile, this sighting is no longer in the map, and confirming it has no effect.
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
    // Differs: kube-controller-manager forgets an object with an impossible owner, even after that ownerReference is
    // removed. Here it is checked again, because its other owners may be gone as well.
    const isFreed = known?.isStuck === true && next?.isStuck === false;
    if (isFreed || next?.owners.some(isDoubtful)) this.#enqueue(node.storeKey);
    for (const owner of known?.owners ?? []) if (!after.has(identityOf(owner))) this.#enqueueWaiting(owner.uid);
  }

  #describe(storeKey: string, { metadata }: KubeObject): GraphNode | undefined {
    const owners = metadata.ownerReferences ?? [];
    const isWaiting = metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
    if (owners.length === 0 && !isWaiting) return undefined;
    // An object with an impossible owner is never collected, so owners that wait for it would wait forever.
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

  /** Whether a lookup is needed to know that the owner exists and is not being deleted. */
  #isDoubtful(owner: OwnerReference, dependentKey: string): boolean {
    const sighting = this.#sightings.get(owner.uid);
    if (!sighting?.isConfirmed || this.#waiting.has(owner.uid)) return true;
    const place = this.#locateOwner(owner, dependentKey);
    return typeof place === "string" || place.storeKey !== sighting.ownerKey;
  }

  #removed(storeKey: string, previous: Entry | undefined): void {
    const node = this.#nodes.get(storeKey);
    if (node) this.#forget(node);
    else if (previous && this.#dependents.size > 0) this.#departed(readShared(this.#codec, previous)?.metadata.uid);
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

/** Whether a change of an object changes nothing in the graph. */
function isSameNode(one: GraphNode | undefined, other: GraphNode | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.uid !== other.uid || one.isWaiting !== other.isWaiting || one.isStuck !== other.isStuck) return false;
  const { owners } = other;
  return (
    one.owners.length === owners.length &&
    one.owners.every((owner, index) => identityOf(owner) === identityOf(owners[index] as OwnerReference))
  );
}

function identityOf(owner: OwnerReference): string {
  const { uid, apiVersion, kind, name, blockOwnerDeletion } = owner;
  return `${uid} ${apiVersion} ${kind} ${name} ${blockOwnerDeletion === true}`;
}
