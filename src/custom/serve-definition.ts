import type { KindPresence, ResourceDefinition, ResourceHooks } from "../resources/model/definition.ts";
import {
  type CustomResourceDefinition,
  isDefinitionCondition,
  type JsonSchemaProps,
} from "../types/custom-resource-definition.ts";
import { type ConversionContext, webhookConverter } from "./conversion-webhook.ts";
import { resourceDefinition } from "./resource-definition.ts";

/** What is true of a defined kind at the moment. */
export type ChangingPresence = { -readonly [Member in keyof KindPresence]: KindPresence[Member] };

/** What serving a definition needs of the server. */
export interface ServingOptions {
  readonly conversion: ConversionContext;
  /** Whether other servers work on the same store. */
  readonly isShared: boolean;
  /** Those of kinds that the program brings with it, by the names of their definitions. */
  readonly hooks: ReadonlyMap<string, ResourceHooks>;
}

/** Compat: a kind is served as soon as its names are accepted (`crdHandler`). */
export function isServed(source: CustomResourceDefinition): boolean {
  return isDefinitionCondition(source, "NamesAccepted") || isDefinitionCondition(source, "Established");
}

/** What a definition's conditions say. */
export function presenceOf(source: CustomResourceDefinition, isShared: boolean): ChangingPresence {
  const established = (source.status?.conditions ?? []).find(({ type }) => type === "Established");
  return {
    isEstablished: established?.status === "True",
    establishedMs: Date.parse(established?.lastTransitionTime ?? "") || 0,
    isShared,
    isTerminating: source.metadata.deletionTimestamp !== undefined || isDefinitionCondition(source, "Terminating"),
  };
}

/** The kind that a definition defines, with what converts its objects. `schemaOf` reads the schema of a version, by its index. */
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
