import type { Catalog } from "../resources/model/catalog.ts";
import type { ResourceDefinition } from "../resources/model/definition.ts";

/** Where kinds come from besides those that are built in: what comes first in this list is served where both have one. */
const SOURCES = ["defined", "open"] as const;

/** One of the sources of kinds. */
export type KindSource = (typeof SOURCES)[number];

/** Keeps a catalog up to date whose kinds come from several sources. What is in it at the start always stays. */
export class CatalogParts {
  readonly builtIn: readonly ResourceDefinition[];
  readonly #catalog: Catalog;
  readonly #parts = new Map<KindSource, readonly ResourceDefinition[]>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.builtIn = catalog.definitions;
  }

  /** All kinds of one source from now on. */
  set(source: KindSource, definitions: readonly ResourceDefinition[]): void {
    this.#parts.set(source, definitions);
    const all = [...this.builtIn];
    const names = new Set(all.map(nameOf));
    for (const one of SOURCES.flatMap((name) => this.#parts.get(name) ?? [])) {
      if (names.has(nameOf(one))) continue;
      names.add(nameOf(one));
      all.push(one);
    }
    this.#catalog.replace(all);
  }
}

const nameOf = ({ group, plural }: ResourceDefinition): string => `${group}/${plural}`;
