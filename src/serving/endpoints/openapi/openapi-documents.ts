import type { JsonObject } from "../../../base/api/object.ts";
import type { GroupVersionKind, Schema, SchemaSource } from "../../../data/schema/schema.ts";
import type { ResourceDefinition, ServedVersion } from "../../../resources/model/definition.ts";
import type { Pause } from "../../../resources/pace.ts";
import { strategyOf } from "../../../resources/strategies/strategy-of.ts";
import type { DescriptionSource } from "./openapi-descriptions.ts";
import { groupVersionWords, OBJECT_TYPES, type Operation } from "./openapi-operations.ts";
import { resourcePaths } from "./openapi-resource.ts";
import { type GroupVersion, PublishedSchemas, type ShapeSource, siblingName } from "./openapi-schemas.ts";
import { CLIENT_VERSIONS, SERVER_VERSIONS } from "./registered-versions.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Input of the OpenAPI documents. */
export interface DocumentSource {
  readonly definitions: readonly ResourceDefinition[];
  /** Built-in schemas by name. */
  readonly component: SchemaSource;
  readonly descriptions: DescriptionSource;
  /** Whether schemas that belong to every group list all groups, as in version 2. */
  readonly namesAllGroups?: boolean;
}

/** The content of a document, independent of the OpenAPI version. */
export interface DocumentContent {
  /** Operations by path, sorted. */
  readonly paths: ReadonlyMap<string, readonly Operation[]>;
  /** Named schemas in OpenAPI 3 format. */
  readonly schemas: JsonObject;
  /** Whether all its kinds are custom resources. */
  readonly isCustom: boolean;
}

/** A document that can be built. While `definitions` are the same, building it again gives the same document. */
export interface DocumentPlan {
  readonly definitions: readonly ResourceDefinition[];
  /** Builds the document, pausing between resources. */
  content(pause: Pause): Promise<DocumentContent>;
}

/** All documents, by their path below `/openapi/v3/`, sorted. They are built on demand. */
export function openApiDocuments(source: DocumentSource): Map<string, DocumentPlan> {
  const plans = new Map<string, DocumentPlan>();
  const versions = servedVersions(source);
  const shapes = shapesOf(source, versions);
  const siblings = new Map(
    [...versions].reverse().map(({ group, version, schemaName }) => [`${group}/${version}`, schemaName]),
  );
  for (const [path, information] of Object.entries(INFORMATION)) {
    plans.set(path, {
      definitions: [],
      content: (pause) => informationContent(shapes, { path, ...information }, pause),
    });
  }
  const byVersion = Map.groupBy(versions, ({ group, version }) => groupVersionPath(group, version));
  for (const [path, members] of byVersion) {
    const [{ group, version } = { group: "", version: "" }] = members;
    const isUnstructured = members.every((one) => one.isUnstructured);
    const named = source.namesAllGroups === true ? SERVER_VERSIONS : isUnstructured ? CLIENT_VERSIONS : undefined;
    const definitions = [...new Set(members.map(({ definition }) => definition))];
    const content = (pause: Pause): Promise<DocumentContent> => {
      const schemas = new PublishedSchemas(shapes, named ?? withCore({ group, version }));
      return groupVersionContent({ source, siblings, definitions, group, version, schemas }, pause);
    };
    plans.set(path, { definitions, content });
    // Compat: groups of CustomResourceDefinitions have documents for their versions, but not for `apis/<group>`.
    if (group === "" || isUnstructured) continue;
    plans.set(`apis/${group}`, { definitions: [], content: (pause) => groupContent(shapes, group, pause) });
  }
  return new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Compat: DeleteOptions and WatchEvent are registered in every group. In the document of a built-in group version,
 * `x-kubernetes-group-version-kind` lists v1 and the group version itself.
 */
function withCore(own: GroupVersion): GroupVersion[] {
  const core = { group: "", version: "v1" };
  return own.group === "" ? [core] : [core, own];
}

interface Served extends GroupVersion {
  readonly definition: ResourceDefinition;
  readonly schemaName: string;
  readonly isUnstructured: boolean;
}

function servedVersions(source: DocumentSource): Served[] {
  return source.definitions.flatMap((definition) => {
    const { isUnstructured } = strategyOf(definition);
    return definition.versions.map(({ name, schemaName }) => ({
      ...{ definition, group: definition.group, version: name },
      ...{ schemaName, isUnstructured },
    }));
  });
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
  /** Compat: the operations of the token issuer, such as `/openid/v1/jwks`, have no consumes. */
  readonly isSilent?: boolean;
}

const INFORMATION: Readonly<Record<string, Information>> = {
  ".well-known/openid-configuration": {
    operationId: "getServiceAccountIssuerOpenIDConfiguration",
    tag: "WellKnown",
    mediaTypes: ["application/json"],
    isSilent: true,
  },
  "openid/v1/jwks": {
    operationId: "getServiceAccountIssuerOpenIDKeyset",
    tag: "openid",
    mediaTypes: ["application/jwk-set+json"],
    isSilent: true,
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

async function informationContent(
  shapes: ShapeSource,
  information: Information & { readonly path: string },
  pause: Pause,
): Promise<DocumentContent> {
  const schemas = new PublishedSchemas(shapes, []);
  const paths = new Map([[`/${information.path}/`, [reading(information, schemas)]]]);
  return { paths, schemas: await schemas.all(pause), isCustom: false };
}

function reading(information: Information, schemas: PublishedSchemas): Operation {
  const { operationId, tag, component, mediaTypes } = information;
  const schema = component === undefined ? { type: "string" } : schemas.reference(component);
  const consumes = information.isSilent === true ? [] : mediaTypes;
  return { method: "get", operationId, tag, parameters: [], consumes, codes: [200], mediaTypes, schema };
}

function groupContent(shapes: ShapeSource, group: string, pause: Pause): Promise<DocumentContent> {
  const { id, tag } = groupVersionWords(group);
  const operationId = `get${id}APIGroup`;
  const component = `${META}.APIGroup`;
  return informationContent(
    shapes,
    { path: `apis/${group}`, operationId, tag, component, mediaTypes: OBJECT_TYPES },
    pause,
  );
}

interface GroupVersionSource extends GroupVersion {
  readonly source: DocumentSource;
  /** Name of the first schema of each served group version. */
  readonly siblings: ReadonlyMap<string, string>;
  readonly definitions: readonly ResourceDefinition[];
  readonly schemas: PublishedSchemas;
}

async function groupVersionContent(from: GroupVersionSource, pause: Pause): Promise<DocumentContent> {
  const { source, siblings, definitions, group, version, schemas } = from;
  const root = `/${groupVersionPath(group, version)}`;
  const componentOf = (kind: GroupVersionKind): string => componentName(siblings, kind);
  const paths = new Map<string, readonly Operation[]>();
  let isCustom = true;
  for (const definition of definitions) {
    const served = servedIn(definition, version);
    if (served === undefined) continue;
    await pause();
    const custom = strategyOf(definition).isUnstructured ? await customSchema(served, schemas, pause) : undefined;
    if (custom === undefined) isCustom = false;
    const context = { definition, version: served, custom, schemas, source: source.component, componentOf };
    for (const [path, operations] of resourcePaths(context)) paths.set(`${root}${path}`, operations);
  }
  if (!isCustom) {
    const { id, tag } = groupVersionWords(group, version);
    const component = `${META}.APIResourceList`;
    const information = { operationId: `get${id}APIResources`, tag, component, mediaTypes: OBJECT_TYPES };
    paths.set(`${root}/`, [reading(information, schemas)]);
  }
  const inOrder = new Map([...paths].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { paths: inOrder, schemas: await schemas.all(pause), isCustom };
}

/** The schema of a custom resource. Its parts are published in steps, because it may be large. */
async function customSchema(served: ServedVersion, schemas: PublishedSchemas, pause: Pause): Promise<Schema> {
  const schema = (await served.schemaForOnce?.(pause)) ?? served.schema();
  await schemas.preparePart(schema, pause);
  return schema;
}

function shapesOf(source: DocumentSource, versions: readonly Served[]): ShapeSource {
  const groups = new Map(versions.map(({ group, schemaName }) => [schemaName.replace(/\.[^.]+$/, ""), group]));
  const groupOf = (componentPackage: string): string | undefined => groups.get(componentPackage);
  return { component: source.component, descriptions: source.descriptions, groupOf, published: new Map() };
}

/** Schemas of a group version share a package, so any served kind reveals the package of the others. */
function componentName(siblings: ReadonlyMap<string, string>, { group, version, kind }: GroupVersionKind): string {
  const sibling = siblings.get(`${group}/${version}`);
  if (sibling !== undefined) return siblingName(sibling, kind);
  throw new Error(`${group}/${version} ${kind} belongs to a group version that is not served`);
}
