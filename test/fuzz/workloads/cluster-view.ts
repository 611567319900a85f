import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { Client } from "../../support/client.ts";
import { asEvent } from "./event-objects.ts";

/** A collection that a sequence may change. */
export interface Collection {
  readonly kind: string;
  /** `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly plural: string;
  /** The objects belong to no namespace. Their names start with the namespace of the sequence and a dash or dot. */
  readonly isClusterScoped?: boolean;
}

/** The objects of one namespace. */
export class NamespaceView {
  readonly #objects = new Map<string, KubeObject>();
  readonly #seenNames = new Map<string, Set<string>>();
  /** When an object changed for the last time. */
  lastChangeMs = performance.now();
  /** Whether the nodes of the namespace take no Pods. */
  isCordoned = false;

  of(kind: string): KubeObject[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind);
  }

  get(kind: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${kind}/${name}`);
  }

  /** All names that objects of a kind have had, also of deleted ones. */
  namesOf(kind: string): Iterable<string> {
    return this.#seenNames.get(kind) ?? [];
  }

  apply(type: string, object: KubeObject): void {
    const { kind, metadata } = object;
    const key = `${kind}/${metadata.name}`;
    const names = this.#seenNames.get(kind) ?? new Set();
    this.#seenNames.set(kind, names.add(metadata.name ?? ""));
    if (type === "DELETED") this.#objects.delete(key);
    else this.#objects.set(key, object);
    // Retries of a failing controller never end. They only increase counts.
    const isRetry = kind === "Event" && (asEvent(object).count > 1 || object.series !== undefined);
    if (!isRetry) this.lastChangeMs = performance.now();
  }

  /** Defers the end of a quiet period, as for a request that was just sent. */
  touch(): void {
    this.lastChangeMs = performance.now();
  }
}

/** All objects of some collections on one server, kept up to date by watches. */
export class ClusterView {
  readonly #client: Client;
  readonly #stopping = new AbortController();
  readonly #namespaces = new Map<string, NamespaceView>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Starts one watch per collection. A watch that ends by itself is reported to `onLost`. */
  follow(collections: readonly Collection[], onLost: (error: Error) => void): void {
    for (const collection of collections) {
      this.#watch(collection).catch((error: unknown) =>
        onLost(new Error(`watch of ${collection.plural}`, { cause: error })),
      );
    }
  }

  namespace(name: string): NamespaceView {
    const known = this.#namespaces.get(name) ?? new NamespaceView();
    this.#namespaces.set(name, known);
    return known;
  }

  forget(namespace: string): void {
    this.#namespaces.delete(namespace);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #watch({ root, plural }: Collection): Promise<void> {
    const { signal } = this.#stopping;
    const path = `${root}/${plural}?watch=true&timeoutSeconds=86400`;
    for await (const { type, object } of this.#client.watch(path, signal) as AsyncGenerator<WatchEvent>) {
      if (type === "ERROR") throw new Error(JSON.stringify(object));
      const namespace = sequenceOf(object);
      if (!this.#namespaces.has(namespace)) continue;
      this.namespace(namespace).apply(type, object);
    }
    if (!signal.aborted) throw new Error("the watch ended");
  }
}

/** The namespace of the sequence that an object belongs to. Events about cluster-scoped objects are in `default`. */
function sequenceOf(object: KubeObject): string {
  const { namespace, name = "" } = object.metadata;
  if (namespace !== undefined && namespace !== "default") return namespace;
  const about = object.kind === "Event" ? asEvent(object).involvedObject.name : name;
  return about.split(/[-.]/, 1)[0] ?? "";
}

interface WatchEvent extends JsonObject {
  readonly type: string;
  readonly object: KubeObject;
}
