import { isObject, type Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Encode, field, gnosticEncoder, type Model, record } from "./gnostic.ts";

const memberOf = (value: Json, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);

const ELSE = { reference: field("2 JsonReference") };
const PARAMETER = { body: field("1 BodyParameter"), other: field("2 NonBodyParameter") };
const PLACES: Readonly<Record<string, ReturnType<typeof field>>> = {
  query: field("3 QueryParameterSubSchema"),
  path: field("4 PathParameterSubSchema"),
};
const VALUES = { schema: field("1 Schema"), boolean: field("2 flag") };
const ONE = { parameter: field("1 Parameter"), response: field("1 Response") };
const API_KEY = field("2 ApiKeySecurity");

const CHECKS: Readonly<Record<string, string>> = {
  maximum: "double",
  exclusiveMaximum: "flag",
  minimum: "double",
  exclusiveMinimum: "flag",
  maxLength: "integer",
  minLength: "integer",
  pattern: "text",
  maxItems: "integer",
  minItems: "integer",
  uniqueItems: "flag",
};

/** Validation fields have consecutive numbers in every message. */
function checks(first: number): Record<string, string> {
  return Object.fromEntries(Object.entries(CHECKS).map(([name, type], index) => [name, `${first + index} ${type}`]));
}

/** Messages of github.com/google/gnostic's openapi.v2, as far as documents about kinds use them. */
const MODEL: Model = {
  Document: record(
    {
      swagger: "1 text",
      info: "2 Info",
      host: "3 text",
      basePath: "4 text",
      schemes: "5 text[]",
      consumes: "6 text[]",
      produces: "7 text[]",
      paths: "8 Paths",
      definitions: "9 Definitions",
      parameters: "10 ParameterDefinitions",
      security: "12 SecurityRequirement[]",
      securityDefinitions: "13 SecurityDefinitions",
    },
    { extensions: "16 any[]" },
  ),
  Info: record({ title: "1 text", version: "2 text", description: "3 text" }, { extensions: "7 any[]" }),
  Paths: record({}, { extensions: "1 any[]", others: "2 PathItem[]" }),
  PathItem: record(
    {
      $ref: "1 text",
      get: "2 Operation",
      put: "3 Operation",
      post: "4 Operation",
      delete: "5 Operation",
      options: "6 Operation",
      head: "7 Operation",
      patch: "8 Operation",
      parameters: "9 ParametersItem[]",
    },
    { extensions: "10 any[]" },
  ),
  Operation: record(
    {
      tags: "1 text[]",
      summary: "2 text",
      description: "3 text",
      externalDocs: "4 ExternalDocs",
      operationId: "5 text",
      produces: "6 text[]",
      consumes: "7 text[]",
      parameters: "8 ParametersItem[]",
      responses: "9 Responses",
      schemes: "10 text[]",
      deprecated: "11 flag",
      security: "12 SecurityRequirement[]",
    },
    { extensions: "13 any[]" },
  ),
  ParametersItem: { choose: (value) => (memberOf(value, "$ref") === undefined ? ONE.parameter : ELSE.reference) },
  ParameterDefinitions: record({}, { others: "1 Parameter[]" }),
  Parameter: { choose: (value) => (memberOf(value, "in") === "body" ? PARAMETER.body : PARAMETER.other) },
  BodyParameter: record(
    { description: "1 text", name: "2 text", in: "3 text", required: "4 flag", schema: "5 Schema" },
    { extensions: "6 any[]" },
  ),
  NonBodyParameter: { choose: (value) => getMember(PLACES, String(memberOf(value, "in"))) },
  QueryParameterSubSchema: record(
    {
      required: "1 flag",
      in: "2 text",
      description: "3 text",
      name: "4 text",
      allowEmptyValue: "5 flag",
      type: "6 text",
      format: "7 text",
      default: "10 any",
      ...checks(11),
      enum: "21 any[]",
    },
    { extensions: "23 any[]" },
  ),
  PathParameterSubSchema: record(
    {
      required: "1 flag",
      in: "2 text",
      description: "3 text",
      name: "4 text",
      type: "5 text",
      format: "6 text",
      default: "9 any",
      ...checks(10),
      enum: "20 any[]",
    },
    { extensions: "22 any[]" },
  ),
  JsonReference: record({ $ref: "1 text", description: "2 text" }),
  Responses: record({}, { others: "1 ResponseValue[]", extensions: "2 any[]" }),
  ResponseValue: { choose: (value) => (memberOf(value, "$ref") === undefined ? ONE.response : ELSE.reference) },
  Response: record({ description: "1 text", schema: "2 SchemaItem" }, { extensions: "5 any[]" }),
  SchemaItem: { choose: () => VALUES.schema },
  Definitions: record({}, { others: "1 Schema[]" }),
  Schema: record(
    {
      $ref: "1 text",
      format: "2 text",
      title: "3 text",
      description: "4 text",
      default: "5 any",
      multipleOf: "6 double",
      ...checks(7),
      maxProperties: "17 integer",
      minProperties: "18 integer",
      required: "19 text[]",
      enum: "20 any[]",
      additionalProperties: "21 AdditionalPropertiesItem",
      type: "22 TypeItem",
      items: "23 ItemsItem",
      allOf: "24 Schema[]",
      properties: "25 Properties",
      discriminator: "26 text",
      readOnly: "27 flag",
      externalDocs: "29 ExternalDocs",
      example: "30 any",
    },
    { extensions: "31 any[]" },
  ),
  AdditionalPropertiesItem: { choose: (value) => (typeof value === "boolean" ? VALUES.boolean : VALUES.schema) },
  TypeItem: { items: field("1 text[]") },
  ItemsItem: { items: field("1 Schema[]") },
  Properties: record({}, { others: "1 Schema[]" }),
  ExternalDocs: record({ description: "1 text", url: "2 text" }, { extensions: "3 any[]" }),
  SecurityDefinitions: record({}, { others: "1 SecurityDefinitionsItem[]" }),
  SecurityDefinitionsItem: { choose: (value) => (memberOf(value, "type") === "apiKey" ? API_KEY : undefined) },
  ApiKeySecurity: record(
    { type: "1 text", name: "2 text", in: "3 text", description: "4 text" },
    { extensions: "5 any[]" },
  ),
  SecurityRequirement: record({}, { others: "1 StringArray[]" }),
  StringArray: { items: field("1 text[]") },
};

/** Encodes a Swagger 2.0 document, or a message of one. */
export const encodeSwagger: Encode = gnosticEncoder(MODEL);
