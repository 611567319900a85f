import type { KindPresence, ResourceDefinition, ResourceHooks } from "../../resources/model/definition.ts";
import {
  type CustomResourceDefinition,
  isDefinitionCondition,
  type JsonSchemaProps,
} from "../types/custom-resource-definition.ts";
import { type ConversionContext, webhookConverter } from "./conversion-webhook.ts";
import { resourceDefinition } from "./resource-definition.ts";

/** Mutable form of KindPresence: the current conditions of a defined kind. */
export type ChangingPresence = { -readonly [Member in keyof KindPresence]: KindPresence[Member] };

/** Parts of the server that are needed to serve a definition. */
export interface ServingOptions {
  readonly conversion: ConversionContext;
  /** Whether other servers use the same store. */
  readonly isShared: boolean;
  /** Hooks of kinds that are defined by code, by the names of their definitions. */
  readonly hooks: ReadonlyMap<string, ResourceHooks>;
}

/** Compat: a kind is served as soon as its names are accepted (`crdHandler`). */
export function isServed(source: CustomResourceDefinition): boolean {
  return isDefinitionCondition(source, "NamesAccepted") || isDefinitionCondition(source, "Established");
}

/** Reads the conditions of a definition. */
export function presenceOf(source: CustomResourceDefinition, isShared: boolean): ChangingPresence {
  const established = (source.status?.conditions ?? []).find(({ type }) => type === "Established");
  return {
    isEstablished: established?.status === "True",
    establishedMs: Date.parse(established?.lastTransitionTime ?? "") || 0,
    isShared,
    isTerminating: source.metadata.deletionTimestamp !== undefined || isDefinitionCondition(source, "Terminating"),
  };
}

/**
 * The kind of a definition, with the conversion of its objects. `schemaOf` returns the schema of a version, by index.
 */
export function serveDefinition(
  definition: CustomResourceDefinition,
  presence: KindPresence,
  schemaOf: (index: number) => JsonSchemaProps,
  { conversion, hooks: all }: ServingOptions,
): ResourceDefinition {
  const convertBatch = webhookConverter(definition, conversion);
  const coded = all.get(definition.metadata.name ?? "");
  const hooks = { ...coded, ...(convertBatch && { convertBatch }) };
  return resourceDefinition(definition, schemaOf, { presence, ...((coded || convertBatch) && { hooks }) });
}
