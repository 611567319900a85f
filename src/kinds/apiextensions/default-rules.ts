import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidField } from "../../api/field-error.ts";
import { isObject, type JsonObject } from "../../api/object.ts";
import { addAll } from "../../lib/add-all.ts";
import { cloneJson } from "../../lib/clone.ts";
import { embeddedMetadata } from "../../resources/strategies/validate-custom.ts";
import { validateEmbedded } from "../../schema/structural/embedded.ts";
import { pruneBySchema } from "../../schema/structural/prune.ts";
import { validateBySchema } from "../../schema/structural/validate.ts";
import { structuralSchema } from "../../schema/structural-schema.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { asSchema, namedSchemas } from "./schema-walk.ts";

const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

/** What is wrong with the defaults of a structural schema. Upstream: `ValidateDefaults`. */
export function defaultErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  return errorsOf({ ...schema, "x-kubernetes-embedded-resource": true }, path, false);
}

function errorsOf(schema: JsonSchemaProps, path: string, isMeta: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isInsideMeta = isMeta && !isEmbedded;
  if (schema.default !== undefined && schema.default !== null) {
    if (!isInsideMeta && !isPruned(schema)) {
      errors.push(invalidField(`${path}.default`, schema.default, "must not have unknown fields"));
    }
    // Compat: `ToKubeOpenAPI` knows no type of x-kubernetes-int-or-string.
    const { intOrString: _, ...checked } = structuralSchema(schema);
    const embedded = isInsideMeta ? [] : validateEmbedded(checked, schema.default, embeddedMetadata, `${path}.default`);
    addAll(errors, embedded.length > 0 ? embedded : validateBySchema(checked, schema.default, `${path}.default`));
  }
  const items = asSchema(schema.items);
  if (items) addAll(errors, errorsOf(items, `${path}.items`, isInsideMeta));
  for (const [name, one] of namedSchemas(schema.properties)) {
    const isMetaField = isInsideMeta || (isEmbedded && META_FIELDS.has(name));
    addAll(errors, errorsOf(one, `${path}.properties[${name}]`, isMetaField));
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
