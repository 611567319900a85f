import type { Json, JsonObject, KubeObject } from "../../base/api/object.ts";

/** CustomResourceDefinitionNames. */
export interface DefinitionNames extends JsonObject {
  plural?: string;
  singular?: string;
  shortNames?: string[];
  kind?: string;
  listKind?: string;
  categories?: string[];
}

/** JSONSchemaProps: one node of `openAPIV3Schema`. */
export interface JsonSchemaProps extends JsonObject {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  nullable?: boolean;
  properties?: Record<string, JsonSchemaProps>;
  additionalProperties?: boolean | JsonSchemaProps;
  items?: JsonSchemaProps | JsonSchemaProps[];
  required?: string[];
  enum?: Json[];
  default?: Json;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  multipleOf?: number;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  minProperties?: number;
  allOf?: JsonSchemaProps[];
  anyOf?: JsonSchemaProps[];
  oneOf?: JsonSchemaProps[];
  not?: JsonSchemaProps;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: string;
  "x-kubernetes-validations"?: JsonObject[];
}

/** CustomResourceColumnDefinition. */
export interface PrinterColumn extends JsonObject {
  name?: string;
  type?: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath?: string;
}

/** CustomResourceSubresources. */
export interface DefinitionSubresources extends JsonObject {
  status?: JsonObject;
  scale?: {
    specReplicasPath?: string;
    statusReplicasPath?: string;
    labelSelectorPath?: string;
  };
}

/** CustomResourceDefinitionVersion. */
export interface DefinitionVersion extends JsonObject {
  name?: string;
  served?: boolean;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchemaProps };
  subresources?: DefinitionSubresources;
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath?: string }[];
}

/** CustomResourceConversion. */
export interface DefinitionConversion extends JsonObject {
  strategy?: string;
  webhook?: {
    clientConfig?: { url?: string; service?: JsonObject; caBundle?: string };
    conversionReviewVersions?: string[];
  };
}

/** CustomResourceDefinitionSpec. */
export interface DefinitionSpec extends JsonObject {
  group?: string;
  names?: DefinitionNames;
  scope?: string;
  versions?: DefinitionVersion[];
  conversion?: DefinitionConversion;
  preserveUnknownFields?: boolean;
}

/** CustomResourceDefinitionCondition. */
export interface DefinitionCondition extends JsonObject {
  type?: string;
  status?: string;
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
}

/** CustomResourceDefinitionStatus. */
export interface DefinitionStatus extends JsonObject {
  conditions?: DefinitionCondition[] | null;
  acceptedNames?: DefinitionNames;
  storedVersions?: string[];
}

/** CustomResourceDefinition of apiextensions.k8s.io/v1. */
export interface CustomResourceDefinition extends KubeObject {
  spec?: DefinitionSpec;
  status?: DefinitionStatus;
}

/** The finalizer that keeps a definition until the objects of its kind are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Whether a condition of a definition is "True". Upstream: `IsCRDConditionTrue`. */
export function isDefinitionCondition({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).find((condition) => condition.type === type)?.status === "True";
}

/**
 * The conditions with one of them set. Upstream: `SetCRDCondition`: `lastTransitionTime` only changes with the status.
 */
export function withDefinitionCondition(
  conditions: readonly DefinitionCondition[],
  next: DefinitionCondition,
): DefinitionCondition[] {
  const index = conditions.findIndex(({ type }) => type === next.type);
  const old = conditions[index];
  if (!old) return [...conditions, next];
  const keepsTime = old.status === next.status && old.lastTransitionTime;
  const { type, status, reason, message } = next;
  const lastTransitionTime = keepsTime ? old.lastTransitionTime : next.lastTransitionTime;
  return conditions.with(index, { ...old, lastTransitionTime, message, reason, status, type });
}
