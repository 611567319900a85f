import type { JsonObject } from "../../api/object.ts";
import type { Schema } from "../../schema/schema.ts";

/** One parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "string" | "integer" | "boolean";
}

const query = (type: Parameter["type"], ...names: string[]): Parameter[] =>
  names.map((name) => ({ name, in: "query", type }));
const path = (name: string): Parameter => ({ name, in: "path", type: "string" });

/** The namespace in a path. */
export const NAMESPACE: Parameter = path("namespace");
/** The name of an object in a path. */
export const NAME: Parameter = path("name");
/** What follows a proxy in a path. */
export const PATH: Parameter = path("path");
/** Asks for indented answers; every answer but a stream takes it. */
export const PRETTY: Parameter = { name: "pretty", in: "query", type: "string" };

/** Where a list begins and what it selects; lists, watches and deletions of collections share them. */
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

/** Query parameters by what an operation does. */
export const PARAMETERS: Readonly<Record<string, readonly Parameter[]>> = {
  list: [...SELECTION, ...query("boolean", "allowWatchBookmarks", "watch")],
  deletecollection: [...SELECTION, ...DELETION],
  delete: DELETION,
  post: WRITING,
  put: WRITING,
  patch: [...WRITING, ...query("boolean", "force")],
  get: [],
};

/** Parameters of reads below an object that answer with text rather than with the object. */
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

/** Parameters in the published order. */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  return parameters.toSorted((a, b) => (a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1));
}

/** Parameters in the published form and order. */
export function publishParameters(parameters: readonly Parameter[]): JsonObject[] {
  return sortParameters(parameters).map(({ name, in: place, type }) => {
    const schema = { type, uniqueItems: true };
    return place === "path" ? { name, in: place, required: true, schema } : { name, in: place, schema };
  });
}
