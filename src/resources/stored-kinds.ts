import type { KubeObject } from "../base/api/object.ts";
import type { Entry } from "../storage/store.ts";
import type { ServedResource } from "./model/catalog.ts";
import type { ResourceDefinition } from "./model/definition.ts";
import type { ObjectKey } from "./model/keys.ts";
import type { ObjectCodec } from "./model/object-codec.ts";
import type { Resources } from "./resources.ts";

/** The resource and object that a store key identifies. */
export interface Located {
  readonly resource: ServedResource;
  readonly key: ObjectKey;
}

/** Finds the resource of a store key among the currently served kinds. */
export class StoredKinds {
  readonly #resources: Resources;
  #definitions: readonly ResourceDefinition[] | undefined;
  #byPrefix = new Map<string, ServedResource>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** All stored kinds, one per key prefix. */
  all(): ServedResource[] {
    this.#refresh();
    return [...this.#byPrefix.values()];
  }

  /** Undefined if the key belongs to no known kind. */
  locate(storeKey: string): Located | undefined {
    this.#refresh();
    const { keys } = this.#resources;
    // Prefixes may be nested, such as "services/specs" and a group called "services": the longest one wins.
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

/** The version of a kind that needs the least conversion: the storage version if it is served. */
function preferredResource({ catalog }: Resources, definition: ResourceDefinition): ServedResource | undefined {
  const { group, plural, storage, versions } = definition;
  const stored = storage && storage.group === undefined ? catalog.find(group, storage.version, plural) : undefined;
  return stored ?? catalog.find(group, versions[0]?.name ?? "", plural);
}

/** Decodes the object of an entry. Undefined if the entry contains something else. The caller owns the result. */
export function readObject(codec: ObjectCodec, entry: Entry): KubeObject | undefined {
  return objectOf(() => codec.read(entry));
}

/** Decodes like `readObject`. Others share the result, which must not be changed. */
export function readShared(codec: ObjectCodec, entry: Entry): KubeObject | undefined {
  return objectOf(() => codec.share(entry));
}

function objectOf(read: () => KubeObject): KubeObject | undefined {
  try {
    const object = read();
    return typeof object.metadata.uid === "string" ? object : undefined;
  } catch {
    return undefined;
  }
}
