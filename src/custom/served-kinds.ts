import { isDeepStrictEqual } from "node:util";
import type { KindPresence, ResourceDefinition } from "../resources/model/definition.ts";
import { type CustomResourceDefinition, isDefinitionCondition } from "../types/custom-resource-definition.ts";
import type { CatalogParts } from "./catalog-parts.ts";
import { type ConversionContext, webhookConverter } from "./conversion-webhook.ts";
import type { DefinitionIndex } from "./definition-index.ts";
import { resourceDefinition } from "./resource-definition.ts";

/** A defined kind as it is served, and what is true of it at the moment. */
interface Served {
  definition: ResourceDefinition;
  source: CustomResourceDefinition;
  readonly presence: { -readonly [Member in keyof KindPresence]: KindPresence[Member] };
}

/**
 * Serves the kinds that CustomResourceDefinitions define, beside those of the catalog that are built in. Compat: a kind is
 * served as soon as its names are accepted, and anew when its spec or its accepted names change (`crdHandler`).
 */
export class ServedKinds {
  readonly #parts: CatalogParts;
  readonly #ownPlurals: ReadonlySet<string>;
  readonly #index: DefinitionIndex;
  readonly #isShared: boolean;
  readonly #conversion: ConversionContext;
  #served = new Map<string, Served>();

  constructor(parts: CatalogParts, index: DefinitionIndex, conversion: ConversionContext, isShared: boolean) {
    this.#conversion = conversion;
    this.#parts = parts;
    this.#ownPlurals = new Set(parts.builtIn.map(({ plural, group }) => `${plural}.${group}`));
    this.#index = index;
    this.#isShared = isShared;
    index.subscribe(() => this.#refresh());
  }

  #refresh(): void {
    const before = this.#served;
    const served = new Map<string, Served>();
    let hasChanged = false;
    for (const source of this.#index.all) {
      const { name = "", uid = "" } = source.metadata;
      if (!isServed(source) || this.#ownPlurals.has(name)) continue;
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

  #serve(source: CustomResourceDefinition, known: Served | undefined): Served {
    const current = presenceOf(source, this.#isShared);
    if (known && isSameKind(known.source, source)) {
      Object.assign(known.presence, current);
      known.source = source;
      return known;
    }
    const convertBatch = webhookConverter(source, this.#conversion);
    const own = { presence: current, ...(convertBatch && { hooks: { convertBatch } }) };
    return { source, presence: current, definition: resourceDefinition(source, own) };
  }
}

function isServed(source: CustomResourceDefinition): boolean {
  return isDefinitionCondition(source, "NamesAccepted") || isDefinitionCondition(source, "Established");
}

function isSameKind(one: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  return (
    isDeepStrictEqual(one.spec, other.spec) && isDeepStrictEqual(one.status?.acceptedNames, other.status?.acceptedNames)
  );
}

function presenceOf(source: CustomResourceDefinition, isShared: boolean): Served["presence"] {
  const established = (source.status?.conditions ?? []).find(({ type }) => type === "Established");
  return {
    isEstablished: established?.status === "True",
    establishedMs: Date.parse(established?.lastTransitionTime ?? "") || 0,
    isShared,
    isTerminating: source.metadata.deletionTimestamp !== undefined || isDefinitionCondition(source, "Terminating"),
  };
}
