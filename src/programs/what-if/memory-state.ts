import type { KubeObject } from "../../base/api/object.ts";
import type { Random } from "../../base/util/random.ts";
import { type MemoryState, MemoryStore } from "../../storage/memory.ts";
import { OrderedMap } from "../../storage/ordered-map.ts";
import type { Entry } from "../../storage/store.ts";
import type { ObjectKinds } from "../server/object-kinds.ts";
import type { StateSink, StateSummary } from "../transfer/read-state.ts";

/** Collects the state of a cluster in memory. */
export class CollectedState implements StateSink {
  readonly #entries = new OrderedMap<Entry>();
  readonly #namespaces = new Set<string>();

  entry(entry: Entry, namespace: string): void {
    this.#entries.set(entry.key, entry);
    if (namespace !== "") this.#namespaces.add(namespace);
  }

  /**
   * The initial state of a store. Objects that a server creates at its start and that the dump lacks come from `genesis`. Missing
   * Namespaces of objects are added.
   */
  finish(
    { revision, manifests }: StateSummary,
    kinds: ObjectKinds,
    random: Random,
    genesis: MemoryState | undefined,
  ): MemoryState {
    for (const { metadata } of manifests) if (metadata.namespace) this.#namespaces.add(metadata.namespace);
    const map = this.#entries;
    for (const [key, entry] of genesis?.state.map.entries() ?? []) if (!map.get(key)) map.set(key, entry);
    for (const name of this.#namespaces) {
      const entry = namespaceEntry(kinds, name, random.uuid());
      if (!map.get(entry.key)) map.set(entry.key, entry);
    }
    const { expiries } = genesis ?? emptyState();
    return { state: { revision: Math.max(revision, genesis?.state.revision ?? 1), map }, expiries };
  }
}

function emptyState(): MemoryState {
  const store = new MemoryStore();
  const state = store.freeze();
  void store.close();
  return state;
}

function namespaceEntry({ catalog, keys, codec }: ObjectKinds, name: string, uid: string): Entry {
  const definition = catalog.findKind("v1", "Namespace")?.definition;
  if (!definition) throw new Error("no API for Namespaces");
  const object: KubeObject = {
    kind: "Namespace",
    apiVersion: "v1",
    metadata: { name, uid, labels: { "kubernetes.io/metadata.name": name } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
  return {
    key: keys.key(definition, { namespace: "", name }),
    value: codec.write(object),
    createRevision: 1,
    modRevision: 1,
  };
}
