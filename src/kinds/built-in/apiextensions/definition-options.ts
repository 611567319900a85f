import {
  type CustomResourceDefinition,
  type DefinitionSpec,
  isDefinitionCondition,
  type JsonSchemaProps,
} from "../../types/custom-resource-definition.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { mapListErrors } from "./list-rules.ts";
import { anySchemaHas, asSchema, schemasOf } from "./schema-walk.ts";
import { structuralErrors, unsupportedSchema } from "./structural-rules.ts";

/**
 * Requirements of a definition. Those that the stored one violates do not apply to updates. Upstream:
 * `validationOptions`.
 */
export interface DefinitionOptions {
  readonly requiresKnownReviewVersion: boolean;
  readonly requiresSchema: boolean;
  readonly requiresKnownTypes: boolean;
  readonly requiresStructural: boolean;
  readonly requiresAtomicSets: boolean;
  readonly requiresSoundMapLists: boolean;
  readonly allowsBadCaBundle: boolean;
  /** Whether a version (all if "") may have more selectable fields than the limit. */
  readonly allowsManySelectable: (version: string) => boolean;
  /** Stored expressions, which may use more features than new ones. Upstream: `preexistingExpressions`. */
  readonly storedExpressions: StoredExpressions;
  /**
   * Whether the schema of a version is unchanged, so that each of its rules may exceed the cost limit. Upstream:
   * `versionsWithUnchangedSchemas`.
   */
  readonly keepsSchema: (version: string) => boolean;
}

/** The texts of `rule` and `messageExpression` in the schemas of a stored definition. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

/** Types of OpenAPI v3. */
export const OPENAPI_TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];
/** Supported ConversionReview versions. */
export const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];
/** Maximum number of selectable fields of a version. */
export const MAX_SELECTABLE_FIELDS = 8;

const ALL: DefinitionOptions = {
  requiresKnownReviewVersion: true,
  requiresSchema: true,
  requiresKnownTypes: true,
  requiresStructural: true,
  requiresAtomicSets: true,
  requiresSoundMapLists: true,
  allowsBadCaBundle: true,
  allowsManySelectable: () => false,
  storedExpressions: { rules: new Set(), messages: new Set() },
  keepsSchema: () => false,
};

/** The requirements of a new definition, or of an update. */
export function optionsFor(next: CustomResourceDefinition, previous?: CustomResourceDefinition): DefinitionOptions {
  if (!previous) return ALL;
  const old = previous.spec ?? {};
  const { conversionReviewVersions = [] } = old.conversion?.webhook ?? {};
  const hasKnown = conversionReviewVersions.some((version) => REVIEW_VERSIONS.includes(version));
  return {
    requiresKnownReviewVersion: conversionReviewVersions.length === 0 || hasKnown,
    requiresSchema: (old.versions ?? []).every(({ schema }) => schema?.openAPIV3Schema),
    requiresKnownTypes: !anySchemaHas(old, hasUnknownType),
    requiresStructural: !schemasOf(old).some(isNonStructural),
    requiresAtomicSets: !anySchemaHas(old, hasLooseSet),
    requiresSoundMapLists: !anySchemaHas(old, (schema) => mapListErrors(schema, "").length > 0),
    allowsBadCaBundle: !isDefinitionCondition(previous, "Established"),
    allowsManySelectable: (version) => keepsMany(next.spec ?? {}, old, version),
    storedExpressions: expressionsOf(old),
    keepsSchema: (version) => sameValue(schemaOf(next.spec ?? {}, version), schemaOf(old, version)),
  };
}

function schemaOf({ versions = [] }: DefinitionSpec, version: string): JsonSchemaProps | undefined {
  return versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
}

/** Upstream: `findPreexistingExpressions`. */
function expressionsOf(spec: DefinitionSpec): StoredExpressions {
  const rules = new Set<string>();
  const messages = new Set<string>();
  anySchemaHas(spec, (schema) => {
    for (const { rule, messageExpression } of schema["x-kubernetes-validations"] ?? []) {
      if (typeof rule === "string") rules.add(rule);
      if (typeof messageExpression === "string") messages.add(messageExpression);
    }
    return false;
  });
  return { rules, messages };
}

/** Whether a schema has a type that is not in OpenAPI v3. */
export function hasUnknownType({ type = "" }: JsonSchemaProps): boolean {
  return type !== "" && !OPENAPI_TYPES.includes(type);
}

function isNonStructural(schema: JsonSchemaProps): boolean {
  return unsupportedSchema(schema) !== undefined || structuralErrors(schema, "").length > 0;
}

function hasLooseSet(schema: JsonSchemaProps): boolean {
  const items = asSchema(schema.items);
  if (schema["x-kubernetes-list-type"] !== "set" || !items) return false;
  if (items.type === "array") return (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic";
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic";
}

function keepsMany(next: DefinitionSpec, old: DefinitionSpec, version: string): boolean {
  const fieldsOf = ({ versions = [] }: DefinitionSpec) =>
    versions.find(({ name }) => version === "" || name === version)?.selectableFields ?? [];
  return fieldsOf(old).length > MAX_SELECTABLE_FIELDS && sameValue([...fieldsOf(next)], [...fieldsOf(old)]);
}
