import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidField, printFieldError } from "../../api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { addAll } from "../../lib/add-all.ts";
import { cloneJson } from "../../lib/clone.ts";
import { decodeMetadata } from "../../resources/strategies/object-members.ts";
import { embeddedMetadata } from "../../resources/strategies/validate-custom.ts";
import type { Schema } from "../../schema/schema.ts";
import { coerceEmbedded, validateEmbedded } from "../../schema/structural/embedded.ts";
import { pruneBySchema } from "../../schema/structural/prune.ts";
import { validateBySchema } from "../../schema/structural/validate.ts";
import { structuralSchema } from "../../schema/structural-schema.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { asSchema, namedSchemas } from "./schema-walk.ts";

const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

/** What is wrong with the defaults of a structural schema. Upstream: `ValidateDefaults`. */
export function defaultErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const root = { ...schema, "x-kubernetes-embedded-resource": true };
  return errorsOf(root, path, { root, isMeta: false, surround: (value) => value });
}

/** Where a schema is within the object that it is part of. */
interface Place {
  /** The schema of that object. */
  readonly root: JsonSchemaProps;
  /** Whether it is apiVersion, kind or metadata of the object, or inside of these. */
  readonly isMeta: boolean;
  /** An object in which a value stands there. Upstream: `SurroundingObjectFunc`. */
  surround(value: Json): Json;
}

/** What is known of any object. */
const anyObject = (): Schema => ({ properties: new Map([["metadata", builtInSchema(OBJECT_META)]]) });
const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const IDENTITY = { apiVersion: "validation/v1", kind: "Validation" };

/** What is wrong with the identity of an object that has this default. */
function metadataErrors(value: Json, path: string, { root, surround }: Place): FieldError[] {
  const object = { ...IDENTITY, ...(cloneJson(surround(value)) as JsonObject) };
  const schema = structuralSchema(root);
  const readMetadata = (embedded: JsonObject) => decodeMetadata(embedded, anyObject());
  const { error } = coerceEmbedded(object, schema, { readMetadata });
  const texts = error === undefined ? validateEmbedded(schema, object, embeddedMetadata).map(printFieldError) : [error];
  const different = [...new Set(texts.map((text) => text.replace(/^\./, "")))];
  if (different.length === 0) return [];
  const text = different.length > 1 ? `[${different.join(", ")}]` : different[0];
  return [invalidField(path, value, `must result in valid metadata: ${text}`)];
}

function errorsOf(schema: JsonSchemaProps, path: string, { root, isMeta, surround }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isInsideMeta = isMeta && !isEmbedded;
  const place: Place = isEmbedded
    ? { root: schema, isMeta: false, surround: (value) => value }
    : { root, isMeta, surround };
  if (schema.default !== undefined && schema.default !== null) {
    if (!isInsideMeta && !isPruned(schema)) {
      errors.push(invalidField(`${path}.default`, schema.default, "must not have unknown fields"));
    }
    // Compat: `ToKubeOpenAPI` knows no type of x-kubernetes-int-or-string.
    const { intOrString: _, ...checked } = structuralSchema(schema);
    const at = `${path}.default`;
    const identity = isInsideMeta
      ? metadataErrors(schema.default, at, place)
      : validateEmbedded(checked, schema.default, embeddedMetadata, at);
    addAll(errors, identity.length > 0 ? identity : validateBySchema(checked, schema.default, at));
  }
  const items = asSchema(schema.items);
  if (items) addAll(errors, errorsOf(items, `${path}.items`, { ...place, surround: (one) => place.surround([one]) }));
  for (const [name, one] of namedSchemas(schema.properties)) {
    const isMetaField = isInsideMeta || (isEmbedded && META_FIELDS.has(name));
    const within = (value: Json) => place.surround({ [name]: value });
    addAll(errors, errorsOf(one, `${path}.properties[${name}]`, { ...place, isMeta: isMetaField, surround: within }));
  }
  return errors;
}

function isPruned(schema: JsonSchemaProps): boolean {
  const holder: JsonObject = { value: cloneJson(schema.default) };
  const inner = structuralSchema(schema);
  pruneBySchema(holder, { type: "object", properties: new Map([["value", inner]]) });
  return !isObject(schema.default) && !Array.isArray(schema.default)
    ? true
    : isDeepStrictEqual(holder.value, schema.default);
}
