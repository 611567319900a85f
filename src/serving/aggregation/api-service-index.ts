import type { ServedResource } from "../../resources/model/catalog.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../resources/read/stored-index.ts";
import type { Resources } from "../../resources/resources.ts";
import { readObject } from "../../resources/stored-kinds.ts";
import { type RemoteApi, remoteApi } from "./api-service.ts";

const GROUP = "apiregistration.k8s.io";
const PLURAL = "apiservices";

/** The APIService resource. */
export function apiServiceResource({ catalog }: Pick<Resources, "catalog">): ServedResource {
  return storedResource(catalog, GROUP, PLURAL);
}

/** APIServices that name an extension server, kept up to date. */
export class ApiServiceIndex {
  readonly #index: StoredIndex<RemoteApi>;
  #byGroupVersion = new Map<string, RemoteApi>();
  #groups: ReadonlySet<string> = new Set();

  constructor(resources: Resources) {
    const { store, keys, codec } = resources;
    this.#index = new StoredIndex<RemoteApi>({
      store,
      prefix: keys.prefix(apiServiceResource(resources).definition),
      read: (entry) => {
        const object = readObject(codec, entry);
        return object && remoteApi(object);
      },
      changed: () => this.#refresh(),
    });
  }

  get all(): Iterable<RemoteApi> {
    return this.#byGroupVersion.values();
  }

  get isEmpty(): boolean {
    return this.#byGroupVersion.size === 0;
  }

  find(group: string, version: string): RemoteApi | undefined {
    return this.#byGroupVersion.get(`${group}/${version}`);
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  /** Calls the listener after every change. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    return this.#index.subscribe(listener);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }

  /** Resolves when all currently stored APIServices are known. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }

  #refresh(): void {
    const all = [...this.#index.items.values()];
    this.#byGroupVersion = new Map(all.map((api) => [`${api.group}/${api.version}`, api]));
    this.#groups = new Set(all.map(({ group }) => group));
  }
}
