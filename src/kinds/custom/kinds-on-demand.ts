import type { RequestInfo } from "../../base/api/request-info.ts";
import { convertObject, storedApiVersion } from "../../resources/model/conversion.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { Resources } from "../../resources/resources.ts";
import { readObject } from "../../resources/stored-kinds.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import type { CatalogParts } from "./catalog-parts.ts";
import { definitionResource } from "./definition-index.ts";
import { isServed, presenceOf, type ServingOptions, serveDefinition } from "./serve-definition.ts";

/** How many kinds are cached with their schemas and compiled rules. */
const KEPT = 20;

interface Kept {
  readonly modRevision: number;
  readonly definition: ResourceDefinition;
}

/** A resource by its group and plural name. */
export type ResourceName = Pick<RequestInfo, "group" | "resource">;

/** Dependencies of KindsOnDemand. */
export interface KindsOnDemandOptions {
  readonly resources: Resources;
  readonly parts: CatalogParts;
  readonly serving: ServingOptions;
}

/** Serves defined kinds that are requested by name, for servers that do not watch definitions. */
export class KindsOnDemand {
  readonly #options: KindsOnDemandOptions;
  readonly #builtIn: ReadonlySet<string>;
  /** By the names of their definitions, least recently read first. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: KindsOnDemandOptions) {
    this.#options = options;
    this.#builtIn = new Set(options.parts.builtIn.map(({ plural, group }) => `${plural}.${group}`));
  }

  /** Serves those of the resources that have a definition, as it is stored now. */
  async prepare(wanted: readonly ResourceName[]): Promise<void> {
    // The group of a definition contains a dot.
    const defined = wanted.filter(({ group }) => group.includes("."));
    const names = new Set(defined.map(({ group, resource }) => `${resource}.${group}`));
    const changes = await Promise.all(
      [...names].filter((name) => !this.#builtIn.has(name)).map((one) => this.#read(one)),
    );
    if (!changes.includes(true)) return;
    for (const name of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      if (!names.has(name)) this.#kept.delete(name);
    }
    const definitions = Array.from(this.#kept.values(), ({ definition }) => definition);
    this.#options.parts.set("defined", definitions);
  }

  /** Reads a definition. Resolves to true if it has changed. */
  async #read(name: string): Promise<boolean> {
    const { store, keys, codec } = this.#options.resources;
    const { definition: kind } = definitionResource(this.#options.resources);
    const entry = await store.get(keys.key(kind, { namespace: "", name }));
    if (this.#kept.get(name)?.modRevision === entry?.modRevision) return false;
    this.#kept.delete(name);
    const object = entry && readObject(codec, entry);
    const source = object && (convertObject(kind, object, storedApiVersion(kind)) as CustomResourceDefinition);
    if (entry && source && isServed(source)) {
      this.#kept.set(name, { modRevision: entry.modRevision, definition: this.#serve(source) });
    }
    return true;
  }

  #serve(source: CustomResourceDefinition): ResourceDefinition {
    const { serving } = this.#options;
    const schemaOf = (index: number) => source.spec?.versions?.[index]?.schema?.openAPIV3Schema ?? {};
    return serveDefinition(source, presenceOf(source, serving.isShared), schemaOf, serving);
  }
}
