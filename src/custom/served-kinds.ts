import { isDeepStrictEqual } from "node:util";
import type { ResourceDefinition } from "../resources/model/definition.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import type { CatalogParts } from "./catalog-parts.ts";
import type { DefinitionIndex, StoredDefinition } from "./definition-index.ts";
import {
  type ChangingPresence,
  isServed,
  presenceOf,
  type ServingOptions,
  serveDefinition,
} from "./serve-definition.ts";

/** A defined kind as it is served, and what is true of it at the moment. */
interface Served {
  readonly definition: ResourceDefinition;
  source: StoredDefinition;
  readonly presence: ChangingPresence;
}

/**
 * Serves the kinds that CustomResourceDefinitions define, beside those of the catalog that are built in. Compat: a kind is
 * served anew when its spec or its accepted names change (`crdHandler`).
 */
export class ServedKinds {
  readonly #parts: CatalogParts;
  readonly #ownPlurals: ReadonlySet<string>;
  readonly #index: DefinitionIndex;
  readonly #options: ServingOptions;
  #served = new Map<string, Served>();

  constructor(parts: CatalogParts, index: DefinitionIndex, options: ServingOptions) {
    this.#parts = parts;
    this.#ownPlurals = new Set(parts.builtIn.map(({ plural, group }) => `${plural}.${group}`));
    this.#index = index;
    this.#options = options;
    index.subscribe(() => this.#refresh());
  }

  #refresh(): void {
    const before = this.#served;
    const served = new Map<string, Served>();
    let hasChanged = false;
    for (const source of this.#index.stored) {
      const { name = "", uid = "" } = source.definition.metadata;
      if (!isServed(source.definition) || this.#ownPlurals.has(name)) continue;
      const known = before.get(uid);
      if (known?.source === source) {
        served.set(uid, known);
        continue;
      }
      hasChanged = true;
      served.set(uid, this.#serve(source, known));
    }
    if (!hasChanged && served.size === before.size) return;
    this.#served = served;
    this.#parts.set(
      "defined",
      [...served.values()].map(({ definition }) => definition),
    );
  }

  #serve(source: StoredDefinition, known: Served | undefined): Served {
    const { definition } = source;
    const current = presenceOf(definition, this.#options.isShared);
    if (known && isSameKind(known.source.definition, definition)) {
      Object.assign(known.presence, current);
      known.source = source;
      return known;
    }
    // What was stored first is let go when the status changes: schemas are read from what is stored last.
    const schemaOf = (index: number) => served.source.whole().spec?.versions?.[index]?.schema?.openAPIV3Schema ?? {};
    const kind = serveDefinition(definition, current, schemaOf, this.#options);
    const served: Served = { source, presence: current, definition: kind };
    return served;
  }
}

/** A spec that changes gets another `metadata.generation`. */
function isSameKind(one: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  return (
    one.metadata.generation === other.metadata.generation &&
    isDeepStrictEqual(one.spec, other.spec) &&
    isDeepStrictEqual(one.status?.acceptedNames, other.status?.acceptedNames)
  );
}
