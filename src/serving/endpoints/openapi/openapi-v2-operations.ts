import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { type Operation, PHRASES, splitParameters } from "./openapi-operations.ts";
import { type Parameter, sortParameters } from "./openapi-parameters.ts";
import { withoutUndefined } from "./openapi-schemas.ts";
import { swaggerReference } from "./openapi-v2-schemas.ts";

/** Parameters that many operations reference, by their name in the document. */
export type SharedParameters = Map<string, JsonObject>;

/** The path item of a path's operations in version 2. Parameters shared with other paths are added to `shared`. */
export function swaggerPath(operations: readonly Operation[], shared: SharedParameters): JsonObject {
  const { shared: common, own } = splitParameters(operations);
  const item: JsonObject = {};
  operations.forEach((operation, index) => {
    item[operation.method] = swaggerOperation(operation, own[index] ?? [], shared);
  });
  if (common.length > 0) item.parameters = swaggerParameters(common, shared);
  return item;
}

/** Order of media types. In version 3 they are sorted by name. */
const MEDIA_TYPES: readonly string[] = [
  "text/plain",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

function inOrder(mediaTypes: readonly string[]): string[] {
  return mediaTypes.toSorted((a, b) => MEDIA_TYPES.indexOf(a) - MEDIA_TYPES.indexOf(b));
}

function swaggerOperation(operation: Operation, own: readonly Parameter[], shared: SharedParameters): JsonObject {
  const { body, kind, consumes } = operation;
  const schema = swaggerSchema(operation.schema);
  const responses: JsonObject = {};
  for (const code of operation.codes) responses[code] = { description: PHRASES[code], schema };
  responses[401] = { description: "Unauthorized" };
  const parameters = swaggerParameters(own, shared);
  if (body !== undefined) parameters.unshift(bodyParameter(body, shared));
  return withoutUndefined({
    consumes: consumes.length === 0 ? undefined : inOrder(consumes),
    produces: inOrder(operation.mediaTypes),
    schemes: ["https"],
    tags: [operation.tag],
    operationId: operation.operationId,
    parameters: parameters.length === 0 ? undefined : parameters,
    responses,
    "x-kubernetes-action": operation.action,
    "x-kubernetes-group-version-kind":
      kind === undefined ? undefined : { group: kind.group, kind: kind.kind, version: kind.version },
  });
}

function swaggerSchema(schema: JsonObject): JsonObject {
  return schema.$ref === undefined ? schema : swaggerReference(schema);
}

/**
 * Compat: kubectl looks for `dryRun` and `fieldValidation` in the operation itself and does not follow `$ref` to shared
 * parameters.
 */
const UNSHARED: readonly string[] = ["name", "dryRun", "fieldValidation"];

function swaggerParameters(parameters: readonly Parameter[], shared: SharedParameters): Json[] {
  return sortParameters(parameters).map(({ name, in: place, type }) => {
    const parameter = withoutUndefined({
      uniqueItems: true,
      type,
      name,
      in: place,
      required: place === "path" ? true : undefined,
    });
    return UNSHARED.includes(name) ? parameter : share(name, parameter, shared);
  });
}

function bodyParameter({ schema, required }: NonNullable<Operation["body"]>, shared: SharedParameters): Json {
  const parameter: JsonObject = withoutUndefined({
    name: "body",
    in: "body",
    required: required ? true : undefined,
    schema: swaggerSchema(schema),
  });
  // Only bodies that are independent of the kind recur.
  const isCommon = String(schema.$ref).startsWith("#/components/schemas/io.k8s.apimachinery");
  return isCommon ? share("body", parameter, shared) : parameter;
}

/** Cache of names: there are few distinct parameters, and each occurs in many operations. */
const names = new Map<string, string>();

function share(name: string, parameter: JsonObject, shared: SharedParameters): JsonObject {
  const json = JSON.stringify(parameter);
  let key = names.get(json);
  if (key === undefined) {
    key = `${name}-${createHash("sha256").update(json).digest("base64url").slice(0, 8)}`;
    names.set(json, key);
  }
  shared.set(key, parameter);
  return { $ref: `#/parameters/${key}` };
}
