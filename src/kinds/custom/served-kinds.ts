import { isDeepStrictEqual } from "node:util";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
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

/** A served kind with its current conditions. */
interface Served {
  readonly definition: ResourceDefinition;
  source: StoredDefinition;
  readonly presence: ChangingPresence;
}

/**
 * Serves the kinds of CustomResourceDefinitions, in addition to built-in kinds. Compat: a kind is rebuilt when its spec
 * or its accepted names change (`crdHandler`).
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
    // When only the status changes, `source` is replaced: schemas are read from the latest stored definition.
    const schemaOf = (index: number) => served.source.whole().spec?.versions?.[index]?.schema?.openAPIV3Schema ?? {};
    const kind = serveDefinition(definition, current, schemaOf, this.#options);
    const served: Served = { source, presence: current, definition: kind };
    return served;
  }
}

/** A changed spec has another `metadata.generation`. */
function isSameKind(one: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  return (
    one.metadata.generation === other.metadata.generation &&
    isDeepStrictEqual(one.spec, other.spec) &&
    isDeepStrictEqual(one.status?.acceptedNames, other.status?.acceptedNames)
  );
}
