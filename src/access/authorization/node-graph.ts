import type { KubeObject } from "../../base/api/object.ts";
import { runTogether } from "../../base/util/run-together.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { type Derivation, StoredIndex } from "../../resources/read/stored-index.ts";
import {
  type BoundObject,
  type ClaimedVolume,
  nodeNameReferences,
  type ObjectReference,
  podReferences,
  referenceTo,
  volumeReferences,
} from "./node-references.ts";
import type { RoleSource } from "./role-index.ts";

/** Nodes by the objects that they may access. Counted, because several pods of a node may mount the same object. */
export class NodesByReference implements Derivation<BoundObject> {
  readonly #nodes = new Map<ObjectReference, Map<string, number>>();

  change(previous: BoundObject | undefined, next: BoundObject | undefined): void {
    if (previous) this.#count(previous, -1);
    if (next) this.#count(next, 1);
  }

  has(reference: ObjectReference, node: string): boolean {
    return this.#nodes.get(reference)?.has(node) ?? false;
  }

  #count({ node, references }: BoundObject, by: 1 | -1): void {
    for (const reference of references) {
      const nodes = this.#nodes.get(reference) ?? new Map<string, number>();
      const count = (nodes.get(node) ?? 0) + by;
      if (count > 0) nodes.set(node, count);
      else nodes.delete(node);
      if (nodes.size > 0) this.#nodes.set(reference, nodes);
      else this.#nodes.delete(reference);
    }
  }
}

/** Claims by the volume, and the secrets of the volume, that they lead to. */
export class ClaimsByReference implements Derivation<ClaimedVolume> {
  readonly #volumes = new Map<ObjectReference, Set<ClaimedVolume>>();

  change(previous: ClaimedVolume | undefined, next: ClaimedVolume | undefined): void {
    for (const reference of previous ? [previous.volume, ...previous.secrets] : []) {
      const known = this.#volumes.get(reference);
      if (previous) known?.delete(previous);
      if (known?.size === 0) this.#volumes.delete(reference);
    }
    for (const reference of next ? [next.volume, ...next.secrets] : []) {
      const known = this.#volumes.get(reference) ?? new Set<ClaimedVolume>();
      if (next) known.add(next);
      this.#volumes.set(reference, known);
    }
  }

  *of(reference: ObjectReference): Generator<ObjectReference> {
    for (const { claim } of this.#volumes.get(reference) ?? []) yield claim;
  }
}

// Objects without these members are unrelated to nodes, so they are not decoded.
const NODE_NAME = Buffer.from('"nodeName"');
const CLAIM_REF = Buffer.from('"claimRef"');

/**
 * Objects related to a node: the pods bound to it, what these pods mount, the volumes of their claims with their
 * secrets, and objects that name the node. Watches start with the first request of a node. Without nodes, pods cost
 * nothing extra.
 */
export class NodeGraph {
  readonly #wanted = Promise.withResolvers<void>();
  readonly #loaded = Promise.withResolvers<void>();
  #isLoaded = false;
  readonly #bound: readonly StoredIndex<BoundObject, NodesByReference>[];
  readonly #volumes: StoredIndex<ClaimedVolume, ClaimsByReference>;

  constructor({ store, keys, codec, catalog }: RoleSource) {
    const prefix = (group: string, plural: string) => keys.prefix(storedResource(catalog, group, plural).definition);
    const changed = () => {
      if (!this.#isLoaded) this.#look();
    };
    const bound = (group: string, plural: string, read: (object: KubeObject) => BoundObject | undefined) =>
      new StoredIndex({
        store,
        prefix: prefix(group, plural),
        read: (entry) => (codec.mayHave(entry, NODE_NAME) ? read(codec.share(entry)) : undefined),
        derive: () => new NodesByReference(),
        changed,
      });
    const byName = (group: string, plural: string) =>
      bound(group, plural, (object) => nodeNameReferences(plural, object));
    this.#bound = [
      bound("", "pods", podReferences),
      byName("storage.k8s.io", "volumeattachments"),
      byName("resource.k8s.io", "resourceslices"),
      byName("certificates.k8s.io", "podcertificaterequests"),
    ];
    this.#volumes = new StoredIndex({
      store,
      prefix: prefix("", "persistentvolumes"),
      read: (entry) => (codec.mayHave(entry, CLAIM_REF) ? volumeReferences(codec.share(entry)) : undefined),
      derive: () => new ClaimsByReference(),
      changed,
    });
  }

  /** Resolves when all objects have been loaded once, or the graph is no longer updated. Undefined if it is loaded. */
  loaded(): Promise<void> | undefined {
    if (this.#isLoaded) return undefined;
    this.#wanted.resolve();
    return this.#loaded.promise;
  }

  #look(): void {
    if (![...this.#bound, this.#volumes].every(({ derived }) => derived !== undefined)) return;
    this.#isLoaded = true;
    this.#loaded.resolve();
  }

  /** Whether an object is related to a node. Upstream: `hasPathFrom`. */
  isRelated(node: string, plural: string, namespace: string, name: string): boolean {
    const reference = referenceTo(plural, namespace, name);
    if (this.#has(reference, node)) return true;
    for (const claim of this.#volumes.derived?.of(reference) ?? []) if (this.#has(claim, node)) return true;
    return false;
  }

  /** Watches the store until the signal aborts. Rejects if a watch fails; it may be called again then. */
  async run(signal: AbortSignal): Promise<void> {
    const end = () => {
      this.#wanted.resolve();
      this.#loaded.resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      await this.#wanted.promise;
      if (!signal.aborted) await this.#follow(signal);
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  #follow(signal: AbortSignal): Promise<void> {
    const runs = [...this.#bound, this.#volumes].map((index) => (either: AbortSignal) => index.run(either));
    return runTogether(runs, signal);
  }

  #has(reference: ObjectReference, node: string): boolean {
    return this.#bound.some(({ derived }) => derived?.has(reference, node));
  }
}
