import { apiVersionOf } from "../../api/object.ts";
import type { ResourceDefinition, ServedVersion, Subresource } from "./definition.ts";

/** A definition as one of its served versions shows it. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
  readonly apiVersion: string;
  readonly subresources: Readonly<Record<string, Subresource>>;
}

/** Which kinds exist. Changes at run time when custom kinds come and go. */
export class Catalog {
  #definitions: readonly ResourceDefinition[] = [];
  #served = new Map<string, ServedResource>();
  #groupVersions = new Set<string>();
  #groups = new Set<string>();
  #kinds = new Map<string, ServedResource>();

  constructor(definitions: readonly ResourceDefinition[]) {
    this.replace(definitions);
  }

  /** All definitions, in discovery order. A new array whenever anything changed. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#definitions;
  }

  /** Serves exactly these definitions from now on. */
  replace(definitions: readonly ResourceDefinition[]): void {
    const served = new Map<string, ServedResource>();
    const kinds = new Map<string, ServedResource>();
    const groupVersions = new Set<string>();
    for (const definition of definitions) {
      for (const version of definition.versions) {
        const apiVersion = apiVersionOf(definition.group, version.name);
        const subresources = version.subresources ?? definition.subresources;
        const resource: ServedResource = { definition, version, apiVersion, subresources };
        groupVersions.add(`${definition.group}/${version.name}`);
        served.set(`${definition.group}/${version.name}/${definition.plural}`, resource);
        kinds.set(`${apiVersion}/${definition.kind}`, resource);
        kinds.set(`${apiVersion}/${definition.listKind}`, resource);
      }
    }
    this.#definitions = [...definitions];
    this.#served = served;
    this.#kinds = kinds;
    this.#groupVersions = groupVersions;
    this.#groups = new Set(definitions.map((definition) => definition.group));
  }

  /** Undefined when this group version serves no such resource. */
  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  /** Undefined when no served version has such a kind (or list kind). */
  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#kinds.get(`${apiVersion}/${kind}`);
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groupVersions.has(`${group}/${version}`);
  }
}
