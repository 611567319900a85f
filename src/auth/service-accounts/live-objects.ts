import type { KubeObject } from "../../api/object.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import type { Resources } from "../../resources/resources.ts";

/** What of the resources is needed to look at live objects. */
export type ObjectSource = Pick<Resources, "catalog" | "keys" | "store" | "peek">;

/** Objects of the core group as they are now, and which of them one token was judged by. */
export class LiveObjects {
  readonly #source: ObjectSource;
  /** By key in the store: the revision at which it was looked at. */
  readonly #seen: { readonly key: string; readonly revision: number | undefined }[] = [];

  constructor(source: ObjectSource) {
    this.#source = source;
  }

  /** Undefined when there is none, also when the newest state is asked. */
  async find(plural: string, namespace: string, name: string): Promise<KubeObject | undefined> {
    if (name === "") return undefined;
    const resource: ServedResource = storedResource(this.#source.catalog, "", plural);
    const key = this.#source.keys.key(resource.definition, { namespace, name });
    this.#seen.push({ key, revision: this.#revisionOf(key) });
    return this.#source.peek(resource, { namespace, name });
  }

  /** Whether nothing that was looked at has been written or deleted since, as far as the store's memory tells. */
  isUnchanged(): boolean {
    return this.#seen.every(({ key, revision }) => revision !== undefined && this.#revisionOf(key) === revision);
  }

  #revisionOf(key: string): number | undefined {
    return this.#source.store.snapshot?.(key)?.get(key)?.modRevision;
  }
}
