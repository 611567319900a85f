import { isObject, type Json, type KubeObject } from "../../base/api/object.ts";
import { decodeYaml } from "../../data/encoding/yaml/yaml.ts";
import type { Catalog, ServedResource } from "../../resources/model/catalog.ts";
import { pathOf } from "../../resources/model/resource-path.ts";
import type { RequestObject } from "./object-requests.ts";

/** Objects to apply: YAML or JSON text with any number of documents, an object, or several of either. */
export type Manifests = string | object | readonly (string | object)[];

/** The objects of manifests; lists are flattened. Throws if a text is malformed, with the position. */
export function objectsOf(manifests: Manifests): KubeObject[] {
  const documents = Array.isArray(manifests)
    ? (manifests as readonly (string | object)[])
    : [manifests as string | object];
  return documents.flatMap((one) => (typeof one === "string" ? readText(one) : [one as Json])).flatMap(flatten);
}

function readText(text: string): Json[] {
  const documents = text.split(/^---(?:[ \t].*)?$/m).filter((one) => /^[ \t]*[^\s#]/m.test(one));
  return documents.map((one) => decodeYaml(Buffer.from(one)).value);
}

function flatten(value: Json): KubeObject[] {
  if (!isObject(value))
    throw new TypeError(`a manifest must contain objects, not ${JSON.stringify(value)?.slice(0, 100)}`);
  if (Array.isArray(value.items) && String(value.kind).endsWith("List")) return value.items.flatMap(flatten);
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw new TypeError(`an object of a manifest has no apiVersion or kind: ${JSON.stringify(value).slice(0, 100)}`);
  }
  return [value as KubeObject];
}

/**
 * Name of an object that exists or existed. Objects of `@kubernetes/client-node` are such names, if they contain
 * apiVersion and kind: items of lists do not.
 */
export interface ObjectName {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

/** The resource of an object. Throws an Error with a hint if its kind is not served. */
export function resourceOf(catalog: Catalog, { apiVersion, kind }: ObjectName): ServedResource {
  if (apiVersion === undefined || kind === undefined) {
    throw new TypeError("expected an object with apiVersion, kind and metadata.name");
  }
  const found = catalog.findKind(apiVersion, kind);
  if (found) return found;
  const hint = apiVersion.includes(".")
    ? "apply its CustomResourceDefinition first, or give it as `crds`"
    : "check the spelling";
  throw new Error(`unknown kind ${kind} in ${apiVersion}: ${hint}`);
}

/** The path of an object. A namespaced object without a namespace is in `default`. */
export function objectPath(resource: ServedResource, { kind, metadata = {} }: ObjectName): string {
  const { name = "", namespace = "default" } = metadata;
  if (name === "") throw new Error(`a ${kind} has no metadata.name`);
  return pathOf(resource, { namespace, name });
}

/** Applies one object as `kubectl apply --server-side --force-conflicts` does. */
export async function applyObject(
  request: RequestObject,
  catalog: Catalog,
  object: KubeObject,
  manager: string,
): Promise<KubeObject> {
  const path = objectPath(resourceOf(catalog, object), object);
  const query = `fieldManager=${encodeURIComponent(manager)}&force=true`;
  const what = `applying ${object.kind} ${object.metadata.name}`;
  return request({ what, path: `${path}?${query}`, patch: { type: "application/apply-patch+yaml", body: object } });
}
