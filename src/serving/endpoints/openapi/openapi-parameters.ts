import type { JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../../../data/schema/schema.ts";

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "string" | "integer" | "boolean";
}

const query = (type: Parameter["type"], ...names: string[]): Parameter[] =>
  names.map((name) => ({ name, in: "query", type }));
const path = (name: string): Parameter => ({ name, in: "path", type: "string" });

/** The namespace path parameter. */
export const NAMESPACE: Parameter = path("namespace");
/** The object name path parameter. */
export const NAME: Parameter = path("name");
/** The rest of the path of a proxy request. */
export const PATH: Parameter = path("path");
/** Requests indented output; supported by all responses but streams. */
export const PRETTY: Parameter = { name: "pretty", in: "query", type: "string" };

/** Parameters that lists, watches and collection deletions share. */
const SELECTION: readonly Parameter[] = [
  ...query("string", "continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"),
  ...query("string", "shardSelector"),
  ...query("integer", "limit", "timeoutSeconds"),
  ...query("boolean", "sendInitialEvents"),
];
const DELETION: readonly Parameter[] = [
  ...query("string", "dryRun", "propagationPolicy"),
  ...query("integer", "gracePeriodSeconds"),
  ...query("boolean", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents"),
];
const WRITING = query("string", "dryRun", "fieldManager", "fieldValidation");

/** Query parameters by action. */
export const PARAMETERS: Readonly<Record<string, readonly Parameter[]>> = {
  list: [...SELECTION, ...query("boolean", "allowWatchBookmarks", "watch")],
  deletecollection: [...SELECTION, ...DELETION],
  delete: DELETION,
  post: WRITING,
  put: WRITING,
  patch: [...WRITING, ...query("boolean", "force")],
  get: [],
};

/** Parameters of subresources that return text instead of an object. */
export const TEXT_SUBRESOURCES: Readonly<Record<string, readonly Parameter[]>> = {
  log: [
    ...query("string", "container", "stream"),
    ...query("boolean", "follow", "insecureSkipTLSVerifyBackend", "previous", "timestamps"),
    ...query("integer", "limitBytes", "sinceSeconds", "tailLines"),
  ],
};

/** The fields of an options kind as query parameters. */
export function optionParameters(options: Schema): Parameter[] {
  const parameters: Parameter[] = [];
  for (const [name, field] of options.properties ?? []) {
    const type = field.items?.type ?? field.type;
    if (name === "kind" || name === "apiVersion") continue;
    if (type === "string" || type === "integer" || type === "boolean") parameters.push({ name, in: "query", type });
  }
  return parameters;
}

/** Sorts parameters in the published order. */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  return parameters.toSorted((a, b) => (a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1));
}

/** Parameters in the published format and order. */
export function publishParameters(parameters: readonly Parameter[]): JsonObject[] {
  return sortParameters(parameters).map(({ name, in: place, type }) => {
    const schema = { type, uniqueItems: true };
    return place === "path" ? { name, in: place, required: true, schema } : { name, in: place, schema };
  });
}
