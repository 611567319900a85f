import type { KubeObject } from "../api/object.ts";
import { readObject } from "../controllers/stored-kinds.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import { convertObject, storedApiVersion } from "../resources/model/conversion.ts";
import { storedResource } from "../resources/model/stored-resource.ts";
import { StoredIndex } from "../resources/read/stored-index.ts";
import type { Resources } from "../resources/resources.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";

const GROUP = "apiextensions.k8s.io";
const PLURAL = "customresourcedefinitions";

/** The kind CustomResourceDefinition, as it is served. */
export function definitionResource({ catalog }: Pick<Resources, "catalog">): ServedResource {
  return storedResource(catalog, GROUP, PLURAL);
}

/** All stored CustomResourceDefinitions in v1, kept up to date. They are shared: nobody changes them. */
export class DefinitionIndex {
  readonly #index: StoredIndex<CustomResourceDefinition>;
  readonly #resources: Resources;

  constructor(resources: Resources) {
    const { definition } = definitionResource(resources);
    const { store, keys, codec } = resources;
    this.#resources = resources;
    this.#index = new StoredIndex<CustomResourceDefinition>({
      store,
      prefix: keys.prefix(definition),
      read: (entry) => {
        const object: KubeObject | undefined = readObject(codec, entry);
        return object && (convertObject(definition, object, storedApiVersion(definition)) as CustomResourceDefinition);
      },
    });
  }

  get all(): Iterable<CustomResourceDefinition> {
    return this.#index.items.values();
  }

  find(name: string): CustomResourceDefinition | undefined {
    const { keys } = this.#resources;
    return this.#index.items.get(keys.key(definitionResource(this.#resources).definition, { namespace: "", name }));
  }

  /** Calls the listener after every change, in the order in which they came. Returns how to stop that. */
  subscribe(listener: () => void): () => void {
    return this.#index.subscribe(listener);
  }

  /** Follows the store until the signal aborts. Throws when it cannot. */
  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }

  /** Resolves when an object that was written is known. */
  reached({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    return this.#index.waitFor(Number(metadata.resourceVersion ?? 0), signal);
  }

  /** Resolves when everything that is stored now is known. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }
}
