import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import type { KeySpace } from "../../resources/model/keys.ts";
import type { Snapshot, Store } from "../../storage/store.ts";
import type { ObjectStatistics } from "./work-estimate.ts";

/** Where objects are found. */
export interface ObjectSource {
  readonly catalog: Pick<Catalog, "find">;
  readonly keys: KeySpace;
  readonly store: Pick<Store, "snapshot">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** How many objects the average size is taken from, and for how long it is used. */
const SAMPLES = 16;
const FRESH_MS = 10_000;
/** Kinds with a known average size. */
const MAX_KINDS = 10_000;

/** Numbers and average sizes of stored objects, from memory. Sizes are sampled now and then. */
export class ObjectSizes {
  readonly #source: ObjectSource;
  readonly #averages = new Map<string, { readonly bytes: number; readonly atMs: number }>();

  constructor(source: ObjectSource) {
    this.#source = source;
  }

  /** What a list of this path reads. Undefined if it is not stored here. */
  of({ group, version, resource, namespace, isInNamespace }: RequestInfo): ObjectStatistics | undefined {
    const { catalog, keys, store } = this.#source;
    const definition = catalog.find(group, version, resource)?.definition;
    const snapshot = definition && store.snapshot?.(keys.root);
    if (!snapshot) return undefined;
    const count = snapshot.count(keys.prefix(definition, isInNamespace ? namespace : ""));
    return { count, bytesEach: count === 0 ? 0 : this.#average(snapshot, keys.prefix(definition)) };
  }

  #average(snapshot: Snapshot, prefix: string): number {
    const nowMs = this.#source.clock.monotonic();
    const known = this.#averages.get(prefix);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known.bytes;
    const entries = snapshot.slice(prefix, { revision: snapshot.revision });
    const length = entries?.length ?? 0;
    const taken = Math.min(SAMPLES, length);
    let sum = 0;
    for (let index = 0; index < taken; index++) {
      sum += entries?.at(Math.floor((index * length) / taken))?.value.length ?? 0;
    }
    const bytes = taken === 0 ? 0 : sum / taken;
    if (this.#averages.size >= MAX_KINDS) this.#averages.clear();
    this.#averages.set(prefix, { bytes, atMs: nowMs });
    return bytes;
  }
}
