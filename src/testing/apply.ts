import { isObject, type Json, type JsonObject, type KubeObject } from "../api/object.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";
import type { Catalog, ServedResource } from "../resources/model/catalog.ts";
import type { Fetch } from "./fetch.ts";

/** Objects to apply: YAML or JSON text with any number of documents, an object, or several of either. */
export type Manifests = string | object | readonly (string | object)[];

/** The server refused an object of a manifest. */
export class ApplyError extends Error {
  /** What the server answered. */
  readonly status: JsonObject;
  readonly code: number;

  constructor(what: string, code: number, status: JsonObject) {
    super(`${what} was refused with ${code}: ${status.message}`);
    this.name = "ApplyError";
    this.code = code;
    this.status = status;
  }
}

/** The objects of manifests, lists taken apart. Throws what is wrong with a text, and where. */
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
    throw new TypeError(`a manifest is to hold objects, not ${JSON.stringify(value)?.slice(0, 100)}`);
  if (Array.isArray(value.items) && String(value.kind).endsWith("List")) return value.items.flatMap(flatten);
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw new TypeError(`an object of a manifest has no apiVersion or kind: ${JSON.stringify(value).slice(0, 100)}`);
  }
  return [value as KubeObject];
}

/** The resource of an object. Throws an Error that says what to do when its kind is not served. */
export function resourceOf(
  catalog: Catalog,
  { apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">,
): ServedResource {
  const found = catalog.findKind(apiVersion, kind);
  if (found) return found;
  const hint = apiVersion.includes(".")
    ? "apply its CustomResourceDefinition first, or give it as `crds`"
    : "is it misspelt?";
  throw new Error(`there is no kind ${kind} in ${apiVersion}: ${hint}`);
}

/** Applies one object as `kubectl apply --server-side --force-conflicts` does. */
export async function applyObject(
  fetch: Fetch,
  catalog: Catalog,
  object: KubeObject,
  manager: string,
): Promise<KubeObject> {
  const resource = resourceOf(catalog, object);
  const { definition, apiVersion } = resource;
  const { name = "", namespace = "default" } = object.metadata ?? {};
  if (name === "") throw new Error(`a ${object.kind} of a manifest has no metadata.name`);
  const root = definition.group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const scope = definition.scope === "Namespaced" ? `/namespaces/${namespace}` : "";
  const path = `${root}${scope}/${definition.plural}/${name}?fieldManager=${encodeURIComponent(manager)}&force=true`;
  const headers = { "content-type": "application/apply-patch+yaml" };
  const response = await fetch(path, { method: "PATCH", headers, body: JSON.stringify(object) });
  const answer = (await response.json()) as KubeObject;
  if (response.ok) return answer;
  throw new ApplyError(`${object.kind} ${name}`, response.status, answer as JsonObject);
}
