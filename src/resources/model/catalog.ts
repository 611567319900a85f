import { apiVersionOf } from "../../api/object.ts";
import { Once } from "../../lib/once.ts";
import type { ResourceDefinition, ServedVersion, Subresource } from "./definition.ts";

/** A definition as one of its served versions shows it. The same object as long as the definition is the same. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
  readonly apiVersion: string;
  readonly subresources: Readonly<Record<string, Subresource>>;
  /**
   * Happens when the kind is no longer served by this definition: it was withdrawn, or its shape changed. Compat: open
   * watches end then, without an ERROR event, as in `crdHandler.tearDown`.
   */
  readonly withdrawn: Once;
}

/** One version of a definition, as it is served. */
export function serve(definition: ResourceDefinition, version: ServedVersion): ServedResource {
  return {
    definition,
    version,
    apiVersion: apiVersionOf(definition.group, version.name),
    // Without a prototype: a path may name `constructor`.
    subresources: { __proto__: null, ...(version.subresources ?? definition.subresources) } as never,
    withdrawn: new Once(),
  };
}

/** What a change of the catalog was about. A definition is known by its group and plural name. */
export interface CatalogChange {
  readonly added: readonly ResourceDefinition[];
  /** The new definitions of kinds that were served by others before. */
  readonly changed: readonly ResourceDefinition[];
  /** The last definitions of kinds that are no longer served. */
  readonly withdrawn: readonly ResourceDefinition[];
}

/** Which kinds exist. Changes at run time when custom kinds come and go; what did not change stays as it is. */
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

  /** All definitions, in discovery order. A new array whenever anything changed. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#definitions;
  }

  /**
   * Serves exactly these definitions from now on. Those that were served before stay as they are; of the others the
   * served resources are told that they are withdrawn, then those who subscribed hear of the change.
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

  /** Calls the listener after every change. Returns how to stop that. */
  subscribe(listener: (change: CatalogChange) => void): () => void {
    const own = (change: CatalogChange) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Undefined when this group version serves no such resource. */
  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  /** Undefined when no served version has such a kind (or list kind). */
  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#kinds.get(`${apiVersion}/${kind}`);
  }

  /** Whether kinds of the group are always there. That of kinds that come and go alone is none. */
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
