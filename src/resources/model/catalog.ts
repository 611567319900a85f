import { apiVersionOf } from "../../base/api/object.ts";
import { Once } from "../../base/util/once.ts";
import type { ResourceDefinition, ServedVersion, Subresource } from "./definition.ts";

/** A definition in one of its served versions. The same object as long as the definition is the same. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
  readonly apiVersion: string;
  readonly subresources: Readonly<Record<string, Subresource>>;
  /**
   * Happens when this definition stops serving the kind: the kind was removed, or its schema changed. Compat: open
   * watches end then without an ERROR event, as in `crdHandler.tearDown`.
   */
  readonly withdrawn: Once;
}

/** Creates the served resource for a version of a definition. */
export function serve(definition: ResourceDefinition, version: ServedVersion): ServedResource {
  return {
    definition,
    version,
    apiVersion: apiVersionOf(definition.group, version.name),
    // Without a prototype, because a path may contain `constructor`.
    subresources: { __proto__: null, ...(version.subresources ?? definition.subresources) } as never,
    withdrawn: new Once(),
  };
}

/** A change of the catalog. A definition is identified by its group and plural name. */
export interface CatalogChange {
  readonly added: readonly ResourceDefinition[];
  /** New definitions of kinds that were served before. */
  readonly changed: readonly ResourceDefinition[];
  /** The last definitions of kinds that are no longer served. */
  readonly withdrawn: readonly ResourceDefinition[];
}

/**
 * The served kinds. Changes at run time when custom kinds are added or removed; unchanged entries keep their identity.
 */
export class Catalog {
  #definitions: readonly ResourceDefinition[] = [];
  #byDefinition = new Map<ResourceDefinition, readonly ServedResource[]>();
  #served = new Map<string, ServedResource>();
  #groupVersions = new Set<string>();
  #groups = new Set<string>();
  #kinds = new Map<string, ServedResource>();
  readonly #listeners = new Set<(change: CatalogChange) => void>();

  constructor(definitions: readonly ResourceDefinition[]) {
    this.replace(definitions);
  }

  /** All definitions in discovery order. Returns a new array after every change. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#definitions;
  }

  /**
   * Replaces the served definitions. Definitions that were served before keep their resources. Resources of removed
   * definitions get `withdrawn`, then subscribers are called.
   */
  replace(definitions: readonly ResourceDefinition[]): void {
    const before = this.#byDefinition;
    const change = changeBetween(this.#definitions, definitions);
    const byDefinition = new Map<ResourceDefinition, readonly ServedResource[]>();
    const served = new Map<string, ServedResource>();
    const kinds = new Map<string, ServedResource>();
    const groupVersions = new Set<string>();
    for (const definition of definitions) {
      const resources = before.get(definition) ?? definition.versions.map((version) => serve(definition, version));
      byDefinition.set(definition, resources);
      const { group, plural, kind, listKind } = definition;
      for (const resource of resources) {
        const { version, apiVersion } = resource;
        groupVersions.add(`${group}/${version.name}`);
        served.set(`${group}/${version.name}/${plural}`, resource);
        kinds.set(`${apiVersion}/${kind}`, resource);
        kinds.set(`${apiVersion}/${listKind}`, resource);
      }
    }
    this.#definitions = [...definitions];
    this.#byDefinition = byDefinition;
    this.#served = served;
    this.#kinds = kinds;
    this.#groupVersions = groupVersions;
    this.#groups = new Set(definitions.filter(({ presence }) => !presence).map((definition) => definition.group));
    for (const [definition, resources] of before) {
      if (!byDefinition.has(definition)) for (const { withdrawn } of resources) withdrawn.happen();
    }
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** Calls the listener after every change. Returns a function that unsubscribes. */
  subscribe(listener: (change: CatalogChange) => void): () => void {
    const own = (change: CatalogChange) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Undefined if the group version does not serve the resource. */
  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  /** Undefined if no served version has this kind or list kind. */
  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#kinds.get(`${apiVersion}/${kind}`);
  }

  /** Whether the group has built-in kinds. False for groups that have only custom kinds. */
  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groupVersions.has(`${group}/${version}`);
  }
}

function changeBetween(before: readonly ResourceDefinition[], after: readonly ResourceDefinition[]): CatalogChange {
  const name = ({ group, plural }: ResourceDefinition) => `${group}/${plural}`;
  const old = new Map(before.map((one) => [name(one), one]));
  const added = after.filter((one) => !old.has(name(one)));
  const changed = after.filter((one) => old.has(name(one)) && old.get(name(one)) !== one);
  const kept = new Set(after.map(name));
  return { added, changed, withdrawn: before.filter((one) => !kept.has(name(one))) };
}
