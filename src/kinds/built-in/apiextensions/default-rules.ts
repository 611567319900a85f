import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidField, printFieldError } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { currentMeter } from "../../../base/util/meter.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { coerceEmbedded, type EmbeddedReading, validateEmbedded } from "../../../data/schema/structural/embedded.ts";
import { pruneBySchema } from "../../../data/schema/structural/prune.ts";
import { validateDefault } from "../../../data/schema/structural/validate.ts";
import { structuralSchema } from "../../../data/schema/structural-schema.ts";
import { decodeMetadata } from "../../../resources/strategies/object-members.ts";
import { embeddedMetadata } from "../../../resources/strategies/validate-custom.ts";
import {
  type DefaultRules,
  defaultRuleErrors,
  defaultRules,
} from "../../../resources/validation-rules/validate-rules.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { asSchema, namedSchemas, schemaHas } from "./schema-walk.ts";

const EMBEDDED = "x-kubernetes-embedded-resource";
const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

/** Validates the defaults of a structural schema. Upstream: `ValidateDefaults`. */
export function defaultErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const root = structuralSchema({ ...schema, [EMBEDDED]: true });
  return errorsOf(schema, root, path, { root, isMeta: false, surround: (value) => value, rules: defaultRules() });
}

/** Position of a schema within its object. */
interface Place {
  /** The schema of the whole object. */
  readonly root: Schema;
  /** Whether it is or is inside of apiVersion, kind or metadata of the object. */
  readonly isMeta: boolean;
  /** An object with the value at this position. Upstream: `SurroundingObjectFunc`. */
  surround(value: Json): Json;
  /** The remaining cost budget of rules, and compiled rules. */
  readonly rules: DefaultRules;
}

/** The schema of any object. */
const anyObject = (): Schema => ({ properties: new Map([["metadata", builtInSchema(OBJECT_META)]]) });
const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const READING: EmbeddedReading = { readMetadata: (embedded) => decodeMetadata(embedded, anyObject()) };

const IDENTITY = { apiVersion: "validation/v1", kind: "Validation" };

/** Validates the metadata of an object that has this default. */
function metadataErrors(value: Json, path: string, { root, surround }: Place): FieldError[] {
  const object = { ...IDENTITY, ...(cloneJson(surround(value)) as JsonObject) };
  const { error } = coerceEmbedded(object, root, READING);
  const errors = error === undefined ? validateEmbedded(root, object, embeddedMetadata) : [error];
  const texts = errors.map(printFieldError);
  const different = [...new Set(texts.map((text) => text.replace(/^\./, "")))];
  if (different.length === 0) return [];
  const text = different.length > 1 ? `[${different.join(", ")}]` : different[0];
  return [invalidField(path, value, `must result in valid metadata: ${text}`)];
}

/** `structural` is the same schema in structural form. */
function errorsOf(
  schema: JsonSchemaProps,
  structural: Schema,
  path: string,
  { root, isMeta, surround, rules }: Place,
): FieldError[] {
  const errors: FieldError[] = [];
  if (rules.left < 0) return errors;
  const isEmbedded = structural.embeddedResource === true;
  const isInsideMeta = isMeta && !isEmbedded;
  const place: Place = isEmbedded
    ? { root: structural, isMeta: false, surround: (value) => value, rules }
    : { root, isMeta, surround, rules };
  if (schema.default !== undefined && schema.default !== null) {
    if (!isInsideMeta && !isPruned(schema.default, structural)) {
      errors.push(invalidField(`${path}.default`, schema.default, "must not have unknown fields"));
    }
    // Compat: `ToKubeOpenAPI` has no type for x-kubernetes-int-or-string.
    const { intOrString: _, ...checked } = structural;
    const at = `${path}.default`;
    const identity = isInsideMeta
      ? metadataErrors(schema.default, at, place)
      : embeddedErrors(checked, schema.default, at);
    const wrong = identity.length > 0 ? identity : validateDefault(checked, schema.default, at, currentMeter());
    const judged = { value: schema.default, path: at, isRoot: isEmbedded };
    addAll(errors, wrong.length > 0 ? wrong : defaultRuleErrors(structural, judged, rules));
  }
  const items = asSchema(schema.items);
  const within = { ...place, surround: (one: Json) => place.surround([one]) };
  if (items) addAll(errors, errorsOf(items, structural.items ?? {}, `${path}.items`, within));
  for (const [name, one] of namedSchemas(schema.properties)) {
    const isMetaField = isInsideMeta || (isEmbedded && META_FIELDS.has(name));
    const below = { ...place, isMeta: isMetaField, surround: (value: Json) => place.surround({ [name]: value }) };
    const own = structural.properties?.get(name) ?? {};
    addAll(errors, errorsOf(one, own, `${path}.properties[${name}]`, below));
  }
  return errors;
}

/** Validates the metadata of objects that are embedded in a default. */
function embeddedErrors(schema: Schema, value: Json, path: string): FieldError[] {
  const object = cloneJson(value);
  const { error } = coerceEmbedded(object, schema, READING, path);
  return error === undefined ? validateEmbedded(schema, object, embeddedMetadata, path) : [error];
}

/**
 * A schema whose defaults have the metadata of embedded objects as ObjectMeta prints it. Compat: `ValidateDefaults`
 * changes what it validates, so the definition is stored without fields unknown to ObjectMeta.
 */
export function withCoercedDefaults(schema: JsonSchemaProps): JsonSchemaProps {
  const isConcerned = schema.default !== undefined || schemaHas(schema, (one) => one[EMBEDDED] === true);
  return isConcerned ? coercedDefaults(schema, structuralSchema({ ...schema, [EMBEDDED]: true }), false) : schema;
}

function coercedDefaults(schema: JsonSchemaProps, structural: Schema, isMeta: boolean): JsonSchemaProps {
  const isEmbedded = structural.embeddedResource === true;
  const isInsideMeta = isMeta && !isEmbedded;
  const changed: JsonObject = {};
  const { default: value } = schema;
  if (!isInsideMeta && (isObject(value) || Array.isArray(value))) {
    const next = cloneJson(value);
    coerceEmbedded(next, structural, READING);
    if (!isDeepStrictEqual(next, value)) changed.default = next;
  }
  const items = asSchema(schema.items);
  const item = items && coercedDefaults(items, structural.items ?? {}, isInsideMeta);
  if (item !== items) changed.items = item;
  const fields = namedSchemas(schema.properties).map(([name, one]) => {
    const isMetaField = isInsideMeta || (isEmbedded && META_FIELDS.has(name));
    return [name, one, coercedDefaults(one, structural.properties?.get(name) ?? {}, isMetaField)] as const;
  });
  if (fields.some(([, before, after]) => before !== after)) {
    changed.properties = Object.fromEntries(fields.map(([name, , after]) => [name, after]));
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed };
}

function isPruned(value: Json, schema: Schema): boolean {
  if (!isObject(value) && !Array.isArray(value)) return true;
  const holder: JsonObject = { value: cloneJson(value) };
  pruneBySchema(holder, { type: "object", properties: new Map([["value", schema]]) });
  return isDeepStrictEqual(holder.value, value);
}
