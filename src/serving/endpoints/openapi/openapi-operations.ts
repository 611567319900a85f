import type { JsonObject } from "../../../base/api/object.ts";
import type { GroupVersionKind } from "../../../data/schema/schema.ts";
import { PARAMETERS, type Parameter, publishParameters } from "./openapi-parameters.ts";
import { withoutUndefined } from "./openapi-schemas.ts";

/** An operation, independent of the OpenAPI version. */
export interface Operation {
  readonly method: string;
  readonly operationId: string;
  readonly tag: string;
  /** Value of `x-kubernetes-action`. Undefined if the operation is not about a kind. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly mediaTypes: readonly string[]; readonly schema: JsonObject; readonly required: boolean };
  /** Media types of requests. Compat: OpenAPI v2 has `consumes` even for operations without body. */
  readonly consumes: readonly string[];
  /** Status codes whose response is `schema` in one of `mediaTypes`. */
  readonly codes: readonly number[];
  readonly mediaTypes: readonly string[];
  readonly schema: JsonObject;
}

/** Descriptions of status codes. */
export const PHRASES: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" };

/** Response media types of built-in kinds. */
export const OBJECT_TYPES: readonly string[] = [
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
];
/** Media types of lists and watches of built-in kinds. */
export const STREAM_TYPES: readonly string[] = [
  "application/json",
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/yaml",
];
/** Media types of custom resources. */
export const CUSTOM_TYPES: readonly string[] = ["application/json", "application/yaml"];
/** Patch media types that every kind supports. */
export const PATCH_TYPES: readonly string[] = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
];
/** Additional patch media type of built-in kinds. */
export const STRATEGIC_PATCH_TYPE = "application/strategic-merge-patch+json";

/**
 * The path item of a path's operations. Compat: kube-openapi lists parameters that all operations share once, in
 * `parameters` of the path item.
 */
export function publishPath(operations: readonly Operation[]): JsonObject {
  const { shared, own } = splitParameters(operations);
  const item: JsonObject = {};
  operations.forEach((operation, index) => {
    item[operation.method] = publishOperation(operation, own[index] ?? []);
  });
  if (shared.length > 0) item.parameters = publishParameters(shared);
  return item;
}

/** Splits parameters into those that all operations of a path share, and the remaining ones of each operation. */
export function splitParameters(operations: readonly Operation[]): {
  readonly shared: readonly Parameter[];
  readonly own: readonly (readonly Parameter[])[];
} {
  const key = (parameter: Parameter): string => `${parameter.in} ${parameter.name}`;
  const parameters = operations.map((operation) => operation.parameters);
  const first = parameters[0] ?? [];
  const keys = parameters.map((list) => new Set(list.map(key)));
  const shared = first.filter((parameter) => keys.every((set) => set.has(key(parameter))));
  const sharedKeys = new Set(shared.map(key));
  return { shared, own: parameters.map((list) => list.filter((parameter) => !sharedKeys.has(key(parameter)))) };
}

function publishOperation(operation: Operation, parameters: readonly Parameter[]): JsonObject {
  const { body, kind } = operation;
  const responses: JsonObject = {};
  for (const code of operation.codes) {
    responses[code] = { description: PHRASES[code], content: content(operation.mediaTypes, operation.schema) };
  }
  responses[401] = { description: "Unauthorized" };
  return withoutUndefined({
    tags: [operation.tag],
    operationId: operation.operationId,
    parameters: parameters.length === 0 ? undefined : publishParameters(parameters),
    requestBody:
      body === undefined
        ? undefined
        : withoutUndefined({
            content: content(body.mediaTypes, body.schema),
            required: body.required ? true : undefined,
          }),
    responses,
    "x-kubernetes-action": operation.action,
    "x-kubernetes-group-version-kind":
      kind === undefined ? undefined : { group: kind.group, version: kind.version, kind: kind.kind },
  });
}

function content(mediaTypes: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

/** Query parameters of an action. Lists of some versions do not support sharding. */
export function parametersOf(
  action: string,
  options: { readonly noShardSelector?: boolean } = {},
): readonly Parameter[] {
  const parameters = PARAMETERS[action] ?? [];
  return options.noShardSelector === true ? parameters.filter(({ name }) => name !== "shardSelector") : parameters;
}

/** Group and version as spelled in operation ids (`AppsV1`) and in tags (`apps_v1`). */
export function groupVersionWords(group: string, version?: string): { readonly id: string; readonly tag: string } {
  const words = (group === "" ? "core" : group.replace(/\.k8s\.io$/, ""))
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
  const id = words.map(capitalize).join("");
  const tag = `${words[0] ?? ""}${words.slice(1).map(capitalize).join("")}`;
  return version === undefined ? { id, tag } : { id: `${id}${capitalize(version)}`, tag: `${tag}_${version}` };
}

/** Returns the word with its first letter in upper case. */
export function capitalize(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
