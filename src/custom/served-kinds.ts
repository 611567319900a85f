import { isDeepStrictEqual } from "node:util";
import type { KindPresence, ResourceDefinition, ResourceHooks } from "../resources/model/definition.ts";
import { type CustomResourceDefinition, isDefinitionCondition } from "../types/custom-resource-definition.ts";
import type { CatalogParts } from "./catalog-parts.ts";
import { type ConversionContext, webhookConverter } from "./conversion-webhook.ts";
import type { DefinitionIndex, StoredDefinition } from "./definition-index.ts";
import { resourceDefinition } from "./resource-definition.ts";

/** A defined kind as it is served, and what is true of it at the moment. */
interface Served {
  readonly definition: ResourceDefinition;
  source: StoredDefinition;
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
  readonly #hooks: ReadonlyMap<string, ResourceHooks>;
  #served = new Map<string, Served>();

  /** `hooks` are those of kinds that the program brings with it, by the names of their definitions. */
  constructor(
    parts: CatalogParts,
    index: DefinitionIndex,
    conversion: ConversionContext,
    isShared: boolean,
    hooks: ReadonlyMap<string, ResourceHooks> = new Map(),
  ) {
    this.#hooks = hooks;
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
    const current = presenceOf(definition, this.#isShared);
    if (known && isSameKind(known.source.definition, definition)) {
      Object.assign(known.presence, current);
      known.source = source;
      return known;
    }
    const convertBatch = webhookConverter(definition, this.#conversion);
    const coded = this.#hooks.get(definition.metadata.name ?? "");
    const hooks = { ...coded, ...(convertBatch && { convertBatch }) };
    const own = { presence: current, ...((coded || convertBatch) && { hooks }) };
    // What was stored first is let go when the status changes: schemas are read from what is stored last.
    const schemaOf = (index: number) => served.source.whole().spec?.versions?.[index]?.schema?.openAPIV3Schema ?? {};
    const served: Served = { source, presence: current, definition: resourceDefinition(definition, schemaOf, own) };
    return served;
  }
}

function isServed(source: CustomResourceDefinition): boolean {
  return isDefinitionCondition(source, "NamesAccepted") || isDefinitionCondition(source, "Established");
}

/** A spec that changes gets another `metadata.generation`. */
function isSameKind(one: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  return (
    one.metadata.generation === other.metadata.generation &&
    isDeepStrictEqual(one.spec, other.spec) &&
    isDeepStrictEqual(one.status?.acceptedNames, other.status?.acceptedNames)
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
