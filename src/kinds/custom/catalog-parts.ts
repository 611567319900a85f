import type { Catalog } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";

/** Sources of kinds that are not built in. If two have the same resource, the first in this list takes precedence. */
const SOURCES = ["defined", "open"] as const;

/** A source of kinds. */
export type KindSource = (typeof SOURCES)[number];

/** Keeps a catalog with kinds of several sources up to date. The kinds that it has at the start always stay. */
export class CatalogParts {
  readonly builtIn: readonly ResourceDefinition[];
  readonly #catalog: Catalog;
  readonly #parts = new Map<KindSource, readonly ResourceDefinition[]>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.builtIn = catalog.definitions;
  }

  /** Replaces all kinds of one source. */
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
