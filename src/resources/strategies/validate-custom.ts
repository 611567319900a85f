import {
  type FieldError,
  type FieldErrorType,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../base/api/object.ts";
import { managerErrors } from "../../base/api/options.ts";
import { addAll } from "../../base/util/add-all.ts";
import { currentMeter } from "../../base/util/meter.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { Correlated } from "../../data/schema/structural/correlate.ts";
import { validateEmbedded } from "../../data/schema/structural/embedded.ts";
import { validateListTypes } from "../../data/schema/structural/list-types.ts";
import { validateReplicas, validateSelectorText } from "../../data/schema/structural/replicas.ts";
import { validateBySchema, validateUpdateBySchema } from "../../data/schema/structural/validate.ts";
import type { ServedVersion } from "../model/definition.ts";
import { validateMetadata } from "../write/metadata-validation.ts";
import type { Strategy } from "./strategy.ts";

/**
 * Validates a custom object against the schema of its version. Upstream: `customResourceStrategy.Validate` and
 * `ValidateUpdate`, and those of `statusStrategy`. Metadata has been validated before.
 */
export function validateCustom(
  version: ServedVersion,
  next: KubeObject,
  previous: KubeObject | undefined,
  { subresource, warn }: Parameters<NonNullable<Strategy["validate"]>>[3],
): FieldError[] {
  const { declared } = version.schema();
  if (declared === undefined) return [];
  const { schema, traits, rules } = declared;
  const isStatus = subresource === "status";
  const correlated = previous && new Correlated(next as Json, previous as Json, schema, currentMeter());
  const found = isStatus ? statusErrors(schema, next, correlated) : objectErrors(schema, next, correlated);
  addAll(found, scaleErrors(version, next, isStatus));
  if (traits.hasEmbedded && !isStatus) addAll(found, validateEmbedded(schema, next, embeddedMetadata));
  if (traits.hasKeyedLists) addAll(found, listErrors(schema, next, previous));
  // Compat: `NewInvalid` reports each error as a cause, even if another check has found the same.
  const errors: FieldError[] = found.map((error) => ({ ...error, isRepeated: true }));
  // Compat: hasBlockingErr.
  if (traits.hasRules && errors.some(({ type }) => BLOCKING.has(type))) {
    errors.push(invalidField("<nil>", null, UNCHECKED));
  } else if (rules) addAll(errors, rules.check(next as Json, previous as Json | undefined, warn));
  return errors;
}

const BLOCKING: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const UNCHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

function objectErrors(schema: Schema, next: KubeObject, correlated: Correlated | undefined): FieldError[] {
  const meter = currentMeter();
  return correlated
    ? validateUpdateBySchema(correlated, schema, "", meter)
    : validateBySchema(schema, next as Json, "", meter);
}

function statusErrors(schema: Schema, { status }: KubeObject, correlated: Correlated | undefined): FieldError[] {
  const statusSchema = schema.properties?.get("status");
  if (status === undefined || statusSchema === undefined) return [];
  const own = correlated?.member("status") ?? new Correlated(status as Json, null, statusSchema);
  return validateUpdateBySchema(own, statusSchema, "status", currentMeter());
}

function scaleErrors({ subresources = {} }: ServedVersion, next: KubeObject, isStatus: boolean): FieldError[] {
  const { scale } = subresources.scale ?? {};
  if (!scale) return [];
  return [
    ...(isStatus ? [] : validateReplicas(next, scale.specReplicas)),
    ...validateReplicas(next, scale.statusReplicas),
    ...(scale.selector === undefined ? [] : validateSelectorText(next, scale.selector)),
  ];
}

/**
 * Compat: `ValidateListSetsAndMaps` ignores lists of type set and map if the previous object already violated their
 * rules.
 */
function listErrors(schema: Schema, next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const meter = currentMeter();
  const errors = validateListTypes(schema, next as Json, "", meter);
  if (errors.length === 0 || !previous) return errors;
  return validateListTypes(schema, previous as Json, "", meter).length > 0 ? [] : errors;
}

const EMBEDDED_RULES = { nameRule: "pathSegment", freeFinalizers: true } as const;

/** Validates the metadata of an embedded object. Upstream: `validateEmbeddedResource`. */
export function embeddedMetadata(metadata: JsonObject, path: string): FieldError[] {
  const { name = "fakename", namespace } = metadata as ObjectMeta;
  const definition = { rules: EMBEDDED_RULES, scope: namespace ? "Namespaced" : "Cluster" } as const;
  const errors = validateMetadata(definition, { metadata: { ...metadata, name } as ObjectMeta }, () => false);
  const found = errors.map((error) => ({ ...error, field: error.field.replace(/^metadata/, path) }));
  return [...found, ...managedFieldsErrors(metadata.managedFields, `${path}.managedFields`)];
}

const MAX_SUBRESOURCE_BYTES = 256;

/** Upstream: `ValidateManagedFields`. The managedFields of the object itself are written by the server. */
function managedFieldsErrors(entries: Json | undefined, path: string): FieldError[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter(isObject).flatMap(({ operation = "", fieldsType = "", manager, subresource }, index) => {
    const at = `${path}[${index}]`;
    const errors: FieldError[] = [];
    if (operation === "") errors.push(requiredField(`${at}.operation`, "must not be empty"));
    else if (operation !== "Apply" && operation !== "Update") {
      errors.push(notSupportedField(`${at}.operation`, operation, ["Apply", "Update"]));
    }
    if (fieldsType !== "" && fieldsType !== "FieldsV1") {
      errors.push(invalidField(`${at}.fieldsType`, fieldsType, "must be `FieldsV1`"));
    }
    addAll(errors, managerErrors(textOf(manager), `${at}.manager`));
    const isTooLong = Buffer.byteLength(textOf(subresource)) > MAX_SUBRESOURCE_BYTES;
    if (isTooLong) errors.push(tooLongField(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
    return errors;
  });
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
