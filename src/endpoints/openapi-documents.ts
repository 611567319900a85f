import type { JsonObject } from "../api/object.ts";
import type { ResourceDefinition, ServedVersion } from "../resources/definition.ts";
import type { GroupVersionKind, SchemaSource } from "../schema/schema.ts";
import { groupVersionWords, OBJECT_TYPES, type Operation, publishPath } from "./openapi-operations.ts";
import { resourcePaths } from "./openapi-resource.ts";
import { PublishedSchemas, type ShapeSource, sorted } from "./openapi-schemas.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** What the documents are made from. */
export interface DocumentSource {
  readonly definitions: readonly ResourceDefinition[];
  /** Built-in shapes by name. */
  readonly component: SchemaSource;
  /** Release number that the documents name, e.g. "1.37". */
  readonly release: string;
}

/** A document that can be made. As long as `definitions` are the same, making it again gives the same document. */
export interface DocumentPlan {
  readonly definitions: readonly ResourceDefinition[];
  build(): JsonObject;
}

/** Every document there is, by its path below `/openapi/v3/`, in sorted order. Nothing is built until asked for. */
export function openApiDocuments(source: DocumentSource): Map<string, DocumentPlan> {
  const plans = new Map<string, DocumentPlan>();
  for (const [path, information] of Object.entries(INFORMATION)) {
    plans.set(path, { definitions: [], build: () => informationDocument(source, path, information) });
  }
  for (const { group, version, schemaName } of servedVersions(source)) {
    const path = groupVersionPath(group, version);
    if (!plans.has(path)) {
      const definitions = source.definitions.filter(
        (one) => one.group === group && servedIn(one, version) !== undefined,
      );
      plans.set(path, { definitions, build: () => groupVersionDocument(source, definitions, { group, version }) });
    }
    // Compat: groups made of custom resources have documents for their versions only.
    if (group === "" || source.component(schemaName) === undefined) continue;
    plans.set(`apis/${group}`, { definitions: [], build: () => groupDocument(source, group) });
  }
  return new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function servedVersions(source: DocumentSource): { group: string; version: string; schemaName: string }[] {
  return source.definitions.flatMap(({ group, versions }) =>
    versions.map(({ name, schemaName }) => ({ group, version: name, schemaName })),
  );
}

function servedIn(definition: ResourceDefinition, version: string): ServedVersion | undefined {
  return definition.versions.find(({ name }) => name === version);
}

function groupVersionPath(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

interface Information {
  readonly operationId: string;
  readonly tag: string;
  readonly component?: string;
  readonly mediaTypes: readonly string[];
}

const INFORMATION: Readonly<Record<string, Information>> = {
  ".well-known/openid-configuration": {
    operationId: "getServiceAccountIssuerOpenIDConfiguration",
    tag: "WellKnown",
    mediaTypes: ["application/json"],
  },
  "openid/v1/jwks": {
    operationId: "getServiceAccountIssuerOpenIDKeyset",
    tag: "openid",
    mediaTypes: ["application/jwk-set+json"],
  },
  api: { operationId: "getCoreAPIVersions", tag: "core", component: `${META}.APIVersions`, mediaTypes: OBJECT_TYPES },
  apis: { operationId: "getAPIVersions", tag: "apis", component: `${META}.APIGroupList`, mediaTypes: OBJECT_TYPES },
  version: {
    operationId: "getCodeVersion",
    tag: "version",
    component: "io.k8s.apimachinery.pkg.version.Info",
    mediaTypes: ["application/json"],
  },
};

function informationDocument(source: DocumentSource, path: string, information: Information): JsonObject {
  const schemas = new PublishedSchemas(shapesOf(source), { group: "", version: "v1" });
  return documentOf(source, { [`/${path}/`]: publishPath([reading(information, schemas)]) }, schemas.all());
}

function reading({ operationId, tag, component, mediaTypes }: Information, schemas: PublishedSchemas): Operation {
  const schema = component === undefined ? { type: "string" } : schemas.reference(component);
  return { method: "get", operationId, tag, parameters: [], codes: [200], mediaTypes, schema };
}

function groupDocument(source: DocumentSource, group: string): JsonObject {
  const { id, tag } = groupVersionWords(group);
  return informationDocument(source, `apis/${group}`, {
    operationId: `get${id}APIGroup`,
    tag,
    component: `${META}.APIGroup`,
    mediaTypes: OBJECT_TYPES,
  });
}

function groupVersionDocument(
  source: DocumentSource,
  definitions: readonly ResourceDefinition[],
  groupVersion: { readonly group: string; readonly version: string },
): JsonObject {
  const { group, version } = groupVersion;
  const schemas = new PublishedSchemas(shapesOf(source), groupVersion);
  const root = `/${groupVersionPath(group, version)}`;
  const componentOf = (kind: GroupVersionKind): string => componentName(source, kind);
  const paths: JsonObject = {};
  let isCustom = true;
  for (const definition of definitions) {
    const served = servedIn(definition, version);
    if (served === undefined) continue;
    if (source.component(served.schemaName) !== undefined) isCustom = false;
    const context = { definition, version: served, schemas, source: source.component, componentOf };
    for (const [path, operations] of resourcePaths(context)) paths[`${root}${path}`] = publishPath(operations);
  }
  if (isCustom) return customDocumentOf(sorted(paths), schemas.all());
  const { id, tag } = groupVersionWords(group, version);
  const component = `${META}.APIResourceList`;
  const operation = reading({ operationId: `get${id}APIResources`, tag, component, mediaTypes: OBJECT_TYPES }, schemas);
  paths[`${root}/`] = publishPath([operation]);
  return documentOf(source, sorted(paths), schemas.all());
}

function shapesOf(source: DocumentSource): ShapeSource {
  const groups = new Map(
    servedVersions(source).map(({ group, schemaName }) => [schemaName.replace(/\.[^.]+$/, ""), group]),
  );
  return { component: source.component, groupOf: (componentPackage) => groups.get(componentPackage) };
}

/** Shapes of one group version share a package, so any kind served there tells where the others are. */
function componentName(source: DocumentSource, kind: GroupVersionKind): string {
  for (const { group, version, schemaName } of servedVersions(source)) {
    if (group === kind.group && version === kind.version) return schemaName.replace(/[^.]+$/, kind.kind);
  }
  throw new Error(`${kind.group}/${kind.version} ${kind.kind} belongs to a group version that is not served`);
}

function documentOf(source: DocumentSource, paths: JsonObject, schemas: JsonObject): JsonObject {
  const bearer = { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" };
  const securitySchemes = { BearerToken: bearer };
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: source.release },
    paths,
    components: Object.keys(schemas).length === 0 ? { securitySchemes } : { schemas, securitySchemes },
  };
}

/** Compat: custom resources come from another server inside the real one, which introduces itself differently. */
function customDocumentOf(paths: JsonObject, schemas: JsonObject): JsonObject {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes CRD Swagger", version: "v0.1.0" },
    paths,
    components: { schemas },
  };
}
