import type { KubeObject } from "../api/object.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { ResourceDefinition } from "../resources/model/definition.ts";
import type { ObjectKey } from "../resources/model/keys.ts";
import type { ObjectCodec } from "../resources/model/object-codec.ts";
import type { Resources } from "../resources/resources.ts";
import type { Entry } from "../storage/store.ts";

/** The resource and name that a store key stands for. */
export interface Located {
  readonly resource: ServedResource;
  readonly key: ObjectKey;
}

/** Tells what a store key stands for, by the kinds that are served at the moment. */
export class StoredKinds {
  readonly #resources: Resources;
  #definitions: readonly ResourceDefinition[] | undefined;
  #byPrefix = new Map<string, ServedResource>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** Every kind whose objects are stored, one per place in the store. */
  all(): ServedResource[] {
    this.#refresh();
    return [...this.#byPrefix.values()];
  }

  /** Undefined when the key belongs to no known kind. */
  locate(storeKey: string): Located | undefined {
    this.#refresh();
    const { keys } = this.#resources;
    // Places may lie below one another, such as "services/specs" and a group called "services": the longest counts.
    for (
      let slash = storeKey.lastIndexOf("/");
      slash >= keys.root.length;
      slash = storeKey.lastIndexOf("/", slash - 1)
    ) {
      const resource = this.#byPrefix.get(storeKey.slice(0, slash + 1));
      if (resource) return { resource, key: keys.parse(resource.definition, storeKey) };
    }
    return undefined;
  }

  #refresh(): void {
    const { catalog, keys } = this.#resources;
    if (catalog.definitions === this.#definitions) return;
    this.#definitions = catalog.definitions;
    this.#byPrefix = new Map();
    for (const definition of catalog.definitions) {
      const resource = preferredResource(this.#resources, definition);
      const prefix = keys.prefix(definition);
      if (definition.storage && resource && !this.#byPrefix.has(prefix)) this.#byPrefix.set(prefix, resource);
    }
  }
}

/** The version of a kind that is converted least: the stored one where it is served. */
function preferredResource({ catalog }: Resources, definition: ResourceDefinition): ServedResource | undefined {
  const { group, plural, storage, versions } = definition;
  const stored = storage && storage.group === undefined ? catalog.find(group, storage.version, plural) : undefined;
  return stored ?? catalog.find(group, versions[0]?.name ?? "", plural);
}

/** The object that an entry holds, or undefined when it holds something else. The caller owns the result. */
export function readObject(codec: ObjectCodec, entry: Entry): KubeObject | undefined {
  try {
    const object = codec.read(entry);
    return typeof object.metadata.uid === "string" ? object : undefined;
  } catch {
    return undefined;
  }
}
