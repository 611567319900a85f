import {
  type FieldError,
  forbiddenField,
  invalidField,
  printFieldError,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject } from "../../../base/api/object.ts";
import { goRegexpError } from "../../../base/go/regexp.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { memoize } from "../../../base/util/memoize.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { asSchema, asSchemas, namedSchemas } from "./schema-walk.ts";
import { completenessErrors } from "./structural-completeness.ts";

type Level = "root" | "item" | "field";

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
const INT_OR_STRING = [{ type: "integer" }, { type: "string" }];

/** Why a schema is not structural, sorted by message. Upstream: `ValidateStructural`. */
export function structuralErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const place of placesOf(schema, path)) addInvariantErrors(errors, place);
  return completeErrors(errors, schema, path);
}

/** The same with pauses, for the main thread. */
export async function structuralErrorsInSteps(
  schema: JsonSchemaProps,
  path: string,
  pause: () => Promise<void>,
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  let visits = 0;
  for (const place of placesOf(schema, path)) {
    addInvariantErrors(errors, place);
    if (visits++ % PLACES_PER_PAUSE === 0) await pause();
  }
  return completeErrors(errors, schema, path);
}

const PLACES_PER_PAUSE = 200;

function completeErrors(errors: FieldError[], schema: JsonSchemaProps, path: string): FieldError[] {
  addAll(errors, completenessErrors(schema, path));
  const texts = new Map(errors.map((error) => [error, printFieldError(error)]));
  return errors.sort((a, b) => ((texts.get(a) ?? "") < (texts.get(b) ?? "") ? -1 : 1));
}

/** A schema that is not inside of a logic junctor. */
interface Place {
  readonly schema: JsonSchemaProps;
  readonly level: Level;
  readonly path: string;
}

function* placesOf(root: JsonSchemaProps, rootPath: string): Generator<Place> {
  const waiting: Place[] = [{ schema: root, level: "root", path: rootPath }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place;
    const { schema, path } = place;
    const items = asSchema(schema.items);
    if (items) waiting.push({ schema: items, level: "item", path: `${path}.items` });
    const values = asSchema(schema.additionalProperties);
    if (values) waiting.push({ schema: values, level: "field", path: `${path}.additionalProperties` });
    if (schema.properties === undefined) continue;
    for (const [name, one] of namedSchemas(schema.properties)) {
      waiting.push({ schema: one, level: "field", path: `${path}.properties[${name}]` });
    }
  }
}

/** Why `NewStructural` rejects a schema; undefined if it does not. */
export function unsupportedSchema(schema: JsonSchemaProps): string | undefined {
  for (const member of ["id", "$schema", "$ref"]) {
    if (schema[member]) return `OpenAPIV3Schema '${member.replace("$schema", "schema")}' is not supported`;
  }
  for (const member of ["patternProperties", "dependencies"]) {
    if (isObject(schema[member]) && Object.keys(schema[member]).length > 0) {
      return `OpenAPIV3Schema '${member}' is not supported`;
    }
  }
  if (schema.additionalItems !== undefined) return "OpenAPIV3Schema 'additionalItems' is not supported";
  if (namedSchemas(schema.definitions).length > 0) return "OpenAPIV3Schema 'definitions' is not supported";
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  const inner = [
    schema.not,
    ...asSchemas(schema.allOf),
    ...asSchemas(schema.anyOf),
    ...asSchemas(schema.oneOf),
    asSchema(schema.items),
    asSchema(schema.additionalProperties),
    ...namedSchemas(schema.properties).map(([, one]) => one),
  ];
  for (const one of inner) {
    const text = one && unsupportedSchema(one);
    if (text !== undefined) return text;
  }
  return undefined;
}

function addInvariantErrors(errors: FieldError[], { schema, level, path }: Place): void {
  const { type = "" } = schema;
  if (type === "array" && !asSchema(schema.items)) errors.push(requiredField(`${path}.items`, "must be specified"));
  if (schema.additionalProperties !== undefined && level === "root") {
    errors.push(forbiddenField(`${path}.additionalProperties`, "must not be used at the root"));
  }
  addAll(errors, extensionErrors(schema, path));
  const skipsAnyOf = sameValue(schema.anyOf, INT_OR_STRING);
  const skipsAllOf = sameValue(schema.allOf?.[0]?.anyOf, INT_OR_STRING);
  addAll(errors, valueErrors(schema, path, skipsAnyOf, skipsAllOf));
  addAll(errors, typeErrors(schema, level, path));
  addAll(errors, identityErrors(schema, level, path));
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded && !schema["x-kubernetes-preserve-unknown-fields"] && namedSchemas(schema.properties).length === 0) {
    const text =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(requiredField(`${path}.properties`, text));
  }
}

function extensionErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  if (!schema["x-kubernetes-int-or-string"]) return [];
  return (["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
    .filter((name) => schema[name])
    .map((name) => invalidField(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"));
}

function typeErrors(schema: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = "" } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded && type !== "object") {
    const text = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? requiredField(`${path}.type`, text) : invalidField(`${path}.type`, type, text));
  } else if (type === "" && !schema["x-kubernetes-int-or-string"] && !schema["x-kubernetes-preserve-unknown-fields"]) {
    errors.push(requiredField(`${path}.type`, EMPTY_TYPE[level]));
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    const text = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbiddenField(`${path}.additionalProperties`, text));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidField(`${path}.type`, type, "must be object at the root"));
  }
  return errors;
}

/** Validates kind, apiVersion and metadata in a schema. */
function identityErrors(schema: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const isChecked = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  if (!isObject(schema.properties)) return errors;
  const { properties } = schema;
  for (const name of isChecked ? ["kind", "apiVersion"] : []) {
    const { type = "" } = asSchema(properties[name]) ?? { type: "string" };
    if (type !== "string") errors.push(invalidField(`${path}.properties[${name}].type`, type, "must be string"));
  }
  const metadata = asSchema(properties.metadata);
  if (!metadata) return errors;
  const { type = "" } = metadata;
  const metadataPath = `${path}.properties[metadata]`;
  if (isChecked && type !== "object") errors.push(invalidField(`${metadataPath}.type`, type, "must be object"));
  if (level === "root" && saysMore(metadata)) {
    const text = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbiddenField(metadataPath, text));
  }
  return errors;
}

function saysMore({ type: _type, default: _default, properties = {}, ...rest }: JsonSchemaProps): boolean {
  if (Object.values(rest).some((value) => value !== undefined)) return true;
  return Object.keys(properties).some((name) => name !== "name" && name !== "generateName");
}

const patternError = memoize(goRegexpError, { results: 1000, textLength: 500 });

function valueErrors(schema: JsonSchemaProps, path: string, skipsAnyOf = false, skipsAllOf = false): FieldError[] {
  const errors: FieldError[] = [];
  if (!skipsAnyOf) {
    for (const [index, one] of asSchemas(schema.anyOf).entries())
      addAll(errors, nested(one, `${path}.anyOf[${index}]`));
  }
  for (const [index, one] of asSchemas(schema.allOf).entries()) {
    addAll(errors, nested(one, `${path}.allOf[${index}]`, skipsAllOf && index === 0));
  }
  for (const [index, one] of asSchemas(schema.oneOf).entries()) addAll(errors, nested(one, `${path}.oneOf[${index}]`));
  if (schema.not) addAll(errors, nested(schema.not, `${path}.not`));
  const text = schema.pattern ? patternError(schema.pattern) : "";
  if (text !== "") {
    const detail = `must be a valid regular expression, but isn't: ${text}`;
    errors.push(invalidField(`${path}.pattern`, schema.pattern, detail));
  }
  return errors;
}

const EMPTY = "must be empty to be structural";
const UNDEFINED = "must be undefined to be structural";
const FALSE = "must be false to be structural";
/** Fields that are not allowed inside a logic junctor. */
const FORBIDDEN: ReadonlyMap<string, string> = new Map([
  ["type", EMPTY],
  ["additionalProperties", UNDEFINED],
  ["default", UNDEFINED],
  ["title", EMPTY],
  ["description", EMPTY],
  ["nullable", FALSE],
  ["x-kubernetes-preserve-unknown-fields", FALSE],
  ["x-kubernetes-embedded-resource", FALSE],
  ["x-kubernetes-int-or-string", FALSE],
  ["x-kubernetes-list-map-keys", EMPTY],
  ["x-kubernetes-list-type", UNDEFINED],
  ["x-kubernetes-map-type", UNDEFINED],
  ["x-kubernetes-validations", EMPTY],
]);

/** Upstream: `validateNestedValueValidation`. */
function nested(schema: JsonSchemaProps, path: string, skipsAnyOf = false): FieldError[] {
  const errors = valueErrors(schema, path, skipsAnyOf);
  const items = asSchema(schema.items);
  if (items) addAll(errors, nested(items, `${path}.items`));
  const properties = namedSchemas(schema.properties);
  for (const [name, one] of properties) addAll(errors, nested(one, `${path}.properties[${name}]`));
  for (const [member, value] of Object.entries(schema)) {
    const text = FORBIDDEN.get(member);
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false && value !== "";
    if (text !== undefined && isSet) errors.push(forbiddenField(`${path}.${member}`, text));
  }
  if (properties.some(([name]) => name === "metadata")) {
    errors.push(forbiddenField(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
  return errors;
}
