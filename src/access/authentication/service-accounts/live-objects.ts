import type { KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { Resources } from "../../../resources/resources.ts";

/** The parts of the resources that LiveObjects needs. */
export type ObjectSource = Pick<Resources, "catalog" | "keys" | "store" | "peek">;

/** Reads the current objects of the core group, and records which of them the verification of one token depends on. */
export class LiveObjects {
  readonly #source: ObjectSource;
  /** Store keys of the objects read, with their revision at that time. */
  readonly #seen: { readonly key: string; readonly revision: number | undefined }[] = [];

  constructor(source: ObjectSource) {
    this.#source = source;
  }

  /** Returns undefined if the object does not exist. */
  async find(plural: string, namespace: string, name: string): Promise<KubeObject | undefined> {
    if (name === "") return undefined;
    const resource: ServedResource = storedResource(this.#source.catalog, "", plural);
    const key = this.#source.keys.key(resource.definition, { namespace, name });
    this.#seen.push({ key, revision: this.#revisionOf(key) });
    return this.#source.peek(resource, { namespace, name });
  }

  /**
   * Whether none of the objects read has been changed or deleted since, according to the local snapshot of the store.
   * False if there is no snapshot.
   */
  isUnchanged(): boolean {
    return this.#seen.every(({ key, revision }) => revision !== undefined && this.#revisionOf(key) === revision);
  }

  #revisionOf(key: string): number | undefined {
    return this.#source.store.snapshot?.(key)?.get(key)?.modRevision;
  }
}
