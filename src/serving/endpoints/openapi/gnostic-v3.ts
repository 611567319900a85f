import { isObject, type Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Encode, type Field, field, gnosticEncoder, type Message, type Model, record } from "./gnostic.ts";

const REFERENCE = field("2 Reference");
const SCHEMA = field("1 SchemaOrReference");
const FLAG = field("2 flag");
const DEFAULTS: Readonly<Record<string, Field>> = {
  number: field("1 double"),
  boolean: FLAG,
  string: field("3 text"),
};

function orReference(message: string): Message {
  const own = field(`1 ${message}`);
  return { choose: (value: Json) => (isObject(value) && typeof value.$ref === "string" ? REFERENCE : own) };
}

/** Messages of github.com/google/gnostic's openapi.v3, as far as documents about kinds use them. */
const MODEL: Model = {
  Document: record(
    {
      openapi: "1 text",
      info: "2 Info",
      paths: "4 Paths",
      components: "5 Components",
      security: "6 SecurityRequirement[]",
      externalDocs: "8 ExternalDocs",
    },
    { extensions: "9 any[]" },
  ),
  Info: record({ title: "1 text", description: "2 text", version: "6 text" }, { extensions: "7 any[]" }),
  Paths: record({}, { others: "1 PathItem[]", extensions: "2 any[]" }),
  PathItem: record(
    {
      $ref: "1 text",
      summary: "2 text",
      description: "3 text",
      get: "4 Operation",
      put: "5 Operation",
      post: "6 Operation",
      delete: "7 Operation",
      options: "8 Operation",
      head: "9 Operation",
      patch: "10 Operation",
      trace: "11 Operation",
      parameters: "13 ParameterOrReference[]",
    },
    { extensions: "14 any[]" },
  ),
  Operation: record(
    {
      tags: "1 text[]",
      summary: "2 text",
      description: "3 text",
      externalDocs: "4 ExternalDocs",
      operationId: "5 text",
      parameters: "6 ParameterOrReference[]",
      requestBody: "7 RequestBodyOrReference",
      responses: "8 Responses",
      deprecated: "10 flag",
      security: "11 SecurityRequirement[]",
    },
    { extensions: "13 any[]" },
  ),
  ParameterOrReference: orReference("Parameter"),
  Parameter: record(
    {
      name: "1 text",
      in: "2 text",
      description: "3 text",
      required: "4 flag",
      deprecated: "5 flag",
      allowEmptyValue: "6 flag",
      style: "7 text",
      explode: "8 flag",
      allowReserved: "9 flag",
      schema: "10 SchemaOrReference",
      example: "11 any",
      content: "13 MediaTypes",
    },
    { extensions: "14 any[]" },
  ),
  RequestBodyOrReference: orReference("RequestBody"),
  RequestBody: record(
    { description: "1 text", content: "2 MediaTypes", required: "3 flag" },
    { extensions: "4 any[]" },
  ),
  Responses: record({ default: "1 ResponseOrReference" }, { others: "2 ResponseOrReference[]", extensions: "3 any[]" }),
  ResponseOrReference: orReference("Response"),
  Response: record({ description: "1 text", content: "3 MediaTypes" }, { extensions: "5 any[]" }),
  MediaTypes: record({}, { others: "1 MediaType[]" }),
  MediaType: record({ schema: "1 SchemaOrReference", example: "2 any" }, { extensions: "5 any[]" }),
  Components: record(
    { schemas: "1 SchemasOrReferences", securitySchemes: "7 SecuritySchemesOrReferences" },
    { extensions: "10 any[]" },
  ),
  SchemasOrReferences: record({}, { others: "1 SchemaOrReference[]" }),
  SchemaOrReference: orReference("Schema"),
  Schema: record(
    {
      nullable: "1 flag",
      readOnly: "3 flag",
      writeOnly: "4 flag",
      externalDocs: "6 ExternalDocs",
      example: "7 any",
      deprecated: "8 flag",
      title: "9 text",
      multipleOf: "10 double",
      maximum: "11 double",
      exclusiveMaximum: "12 flag",
      minimum: "13 double",
      exclusiveMinimum: "14 flag",
      maxLength: "15 integer",
      minLength: "16 integer",
      pattern: "17 text",
      maxItems: "18 integer",
      minItems: "19 integer",
      uniqueItems: "20 flag",
      maxProperties: "21 integer",
      minProperties: "22 integer",
      required: "23 text[]",
      enum: "24 any[]",
      type: "25 text",
      allOf: "26 SchemaOrReference[]",
      oneOf: "27 SchemaOrReference[]",
      anyOf: "28 SchemaOrReference[]",
      not: "29 Schema",
      items: "30 ItemsItem",
      properties: "31 Properties",
      additionalProperties: "32 AdditionalPropertiesItem",
      default: "33 DefaultType",
      description: "34 text",
      format: "35 text",
    },
    { extensions: "36 any[]" },
  ),
  ItemsItem: { items: field("1 SchemaOrReference[]") },
  Properties: record({}, { others: "1 SchemaOrReference[]" }),
  AdditionalPropertiesItem: { choose: (value) => (typeof value === "boolean" ? FLAG : SCHEMA) },
  // Defaults other than numbers, strings and booleans have no encoding: the message is present but empty.
  DefaultType: { choose: (value) => getMember(DEFAULTS, typeof value) },
  Reference: record({ $ref: "1 text", summary: "2 text", description: "3 text" }),
  ExternalDocs: record({ description: "1 text", url: "2 text" }, { extensions: "3 any[]" }),
  SecuritySchemesOrReferences: record({}, { others: "1 SecuritySchemeOrReference[]" }),
  SecuritySchemeOrReference: orReference("SecurityScheme"),
  SecurityScheme: record(
    {
      type: "1 text",
      description: "2 text",
      name: "3 text",
      in: "4 text",
      scheme: "5 text",
      bearerFormat: "6 text",
      openIdConnectUrl: "8 text",
    },
    { extensions: "9 any[]" },
  ),
  SecurityRequirement: record({}, { others: "1 StringArray[]" }),
  StringArray: { items: field("1 text[]") },
};

/** Encodes an OpenAPI 3.0 document, or a message of one. */
export const encodeOpenApi: Encode = gnosticEncoder(MODEL);
