import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label } from "../../../base/api/names.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { Schema } from "../schema.ts";
import { isMembers, shown } from "./findings.ts";

/** The decoded metadata of an embedded object. */
export interface EmbeddedMetadata {
  readonly metadata: JsonObject | undefined;
  /** Messages of strict validation: `unknown field "spec.template.metadata.x"`. */
  readonly strict: readonly string[];
  /** Why it is not an ObjectMeta. */
  readonly error?: string;
}

/** How to decode embedded objects. */
export interface EmbeddedReading {
  readMetadata(object: JsonObject, path: string): EmbeddedMetadata;
  /** Drops members of a wrong type instead of rejecting them, for stored objects. */
  readonly dropsInvalid?: boolean;
}

/**
 * Converts the metadata of objects with x-kubernetes-embedded-resource to ObjectMeta, in place. Returns unknown fields,
 * and the error if the body is rejected. Upstream: `objectmeta.CoerceWithOptions`.
 */
export function coerceEmbedded(
  object: Json | JsonObject,
  schema: Schema,
  reading: EmbeddedReading,
  root = "",
): { readonly strict: readonly string[]; readonly error?: FieldError } {
  const strict: string[] = [];
  let error: FieldError | undefined;
  visit(schema, object, root, (embedded, path) => {
    error ??= coerceOne(embedded, path, reading, strict);
  });
  return { strict: strict.sort(), error };
}

function coerceOne(
  object: { [member: string]: Json },
  path: string,
  { readMetadata, dropsInvalid = false }: EmbeddedReading,
  strict: string[],
): FieldError | undefined {
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    if (value === undefined || typeof value === "string") continue;
    if (!dropsInvalid) return invalidField(`${path}.${name}`, shown(value), "must be a string");
    delete object[name];
  }
  const given = object.metadata;
  if (given === undefined) return undefined;
  const { metadata = {}, strict: own, error } = readMetadata(object, `${path}.metadata`);
  if (error !== undefined && !dropsInvalid) {
    return invalidField(`${path}.metadata`, shown(given), error);
  }
  addAll(strict, own);
  object.metadata = metadata as { [member: string]: Json };
  return undefined;
}

/** Validates ObjectMeta at a path. */
export type ValidateEmbeddedMetadata = (metadata: JsonObject, path: string) => FieldError[];

/** Validates apiVersion, kind and metadata of embedded objects. Upstream: `objectmeta.Validate`. */
export function validateEmbedded(
  schema: Schema,
  object: Json | JsonObject,
  validateMetadata: ValidateEmbeddedMetadata,
  root = "",
): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, object, root, (embedded, path) => validateOne(embedded, path, errors, validateMetadata));
  return errors;
}

function validateOne(
  object: { readonly [member: string]: Json },
  path: string,
  errors: FieldError[],
  validateMetadata: ValidateEmbeddedMetadata,
): void {
  const { apiVersion, kind, metadata } = object;
  if (apiVersion === undefined) errors.push(requiredField(`${path}.apiVersion`));
  if (kind === undefined) errors.push(requiredField(`${path}.kind`));
  for (const [name, value, problemOf] of [
    ["apiVersion", apiVersion, versionProblem],
    ["kind", kind, kindProblem],
  ] as const) {
    if (value === undefined) continue;
    const problem = typeof value === "string" ? problemOf(value) : "must be a string";
    if (problem !== undefined) errors.push(invalidField(`${path}.${name}`, shown(value), problem));
  }
  if (isMembers(metadata)) addAll(errors, validateMetadata(metadata, `${path}.metadata`));
}

function versionProblem(text: string): string | undefined {
  if (text === "") return "must not be empty";
  return text.split("/").length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;
}

function kindProblem(text: string): string | undefined {
  if (text === "") return "must not be empty";
  const errors = dns1035Label(text.toLowerCase());
  return errors.length > 0 ? `may have mixed case, but should otherwise match: ${errors.join(",")}` : undefined;
}

/** Calls `see` for every embedded object, outer ones first. */
function visit(
  schema: Schema,
  value: Json | JsonObject,
  path: string,
  see: (object: { [member: string]: Json }, path: string) => void,
): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const [index, item] of value.entries()) visit(items, item, `${path}[${index}]`, see);
    return;
  }
  if (!isMembers(value as Json)) return;
  const object = value as { [member: string]: Json };
  if (schema.embeddedResource === true) see(object, path);
  const { properties, values } = schema;
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined) continue;
    const property = properties?.get(name);
    if (property) visit(property, member, path === "" ? name : `${path}.${name}`, see);
    else if (values !== undefined && values !== true) visit(values, member, `${path}[${name}]`, see);
  }
}
