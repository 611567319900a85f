import type { Schema, SchemaSource } from "../../schema/schema.ts";
import type { SchemaOf } from "./envelope.ts";

/** A kind that has a published schema. */
export interface PublishedKind {
  readonly apiVersion: string;
  /** Full name of the schema, e.g. `io.k8s.api.core.v1.Node`. */
  readonly schemaName: string;
}

const META_PACKAGE = "io.k8s.apimachinery.pkg.apis.meta.v1";
const META_VERSION = "meta.k8s.io/v1";
const OLD_META_VERSION = "meta.k8s.io/v1beta1";
/** Compat: Status, APIGroup and other unversioned types (`AddUnversionedTypes`) have apiVersion v1 or none. */
const META_VERSIONS: readonly string[] = ["", "v1", META_VERSION, OLD_META_VERSION];
const DISCOVERY: PublishedKind = {
  apiVersion: "apidiscovery.k8s.io/v2",
  schemaName: "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList",
};

/**
 * Finds the schemas of all built-in kinds: objects and lists, request and response types of subresources, options,
 * Status, PartialObjectMetadata, and discovery documents. `kinds` needs only one kind per group version.
 */
export function schemaLookup(kinds: Iterable<PublishedKind>, component: SchemaSource): SchemaOf {
  const packages = new Map<string, string>();
  for (const { apiVersion, schemaName } of [DISCOVERY, ...kinds]) {
    packages.set(apiVersion, schemaName.slice(0, schemaName.lastIndexOf(".")));
  }
  const found = new Map<string, Schema>();
  const find = (apiVersion: string, kind: string): Schema | undefined => {
    const home = packages.get(apiVersion);
    const own = home === undefined ? undefined : kindSchema(component(`${home}.${kind}`));
    if (own !== undefined) return own;
    // Every group version has the options of requests.
    const isShared = META_VERSIONS.includes(apiVersion) || kind.endsWith("Options");
    const shared = isShared ? kindSchema(component(`${META_PACKAGE}.${kind}`)) : undefined;
    return shared && apiVersion === OLD_META_VERSION ? oldNumbers(kind, shared) : shared;
  };
  return (apiVersion, kind) => {
    const key = `${apiVersion}/${kind}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    // Clients choose these names. Only valid identifiers may become the name of a schema.
    if (!/^[A-Za-z0-9]+$/.test(kind)) return undefined;
    const schema = find(apiVersion, kind);
    // Options of unknown versions are not cached, because clients can invent any number of versions.
    if (schema !== undefined && (packages.has(apiVersion) || META_VERSIONS.includes(apiVersion))) {
      found.set(key, schema);
    }
    return schema;
  };
}

/** The schema if it belongs to a kind rather than to a component type. */
function kindSchema(schema: Schema | undefined): Schema | undefined {
  const member = schema?.properties?.get("apiVersion");
  return member !== undefined && member.proto === undefined ? schema : undefined;
}

/** Compat: in PartialObjectMetadataList of meta.k8s.io/v1beta1 `items` has number 1 and `metadata` 2. */
function oldNumbers(kind: string, schema: Schema): Schema {
  if (kind !== "PartialObjectMetadataList") return schema;
  const numbers: Readonly<Record<string, number>> = { items: 1, metadata: 2 };
  const properties = new Map(
    [...(schema.properties ?? [])].map(([name, property]) => {
      const number = numbers[name];
      return [name, number === undefined ? property : { ...property, proto: { number } }];
    }),
  );
  return { component: schema.component, type: "object", properties };
}
