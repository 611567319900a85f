import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";

/** Members that every object has, whose descriptions are those of built-in types. */
const OBJECT_MEMBERS = ["apiVersion", "kind", "metadata", "items"];

/** A document about kinds as it can be compared. */
export function comparable(document: Json): Json {
  const copy = withoutSentences(document);
  // The DiscoveryController lists definitions in the order of a Go map.
  if (isObject(copy) && Array.isArray(copy.resources)) {
    copy.resources = copy.resources.toSorted((a, b) =>
      ((a as JsonObject).name ?? "") < ((b as JsonObject).name ?? "") ? -1 : 1,
    );
  }
  return isObject(copy) ? withSharedParameters(copy) : copy;
}

const SHARED_SHAPES = "io.k8s.apimachinery.";

/** The part of `/openapi/v2` that is about the kinds of some groups, with the shapes that all kinds share. */
export function partAbout(groups: ReadonlySet<string>, document: JsonObject): JsonObject {
  const packages = [...groups].map((group) => `${group.split(".").reverse().join(".")}.`);
  const isAbout = (path: string) => groups.has(path.split("/")[2] ?? "");
  const isShape = (name: string) => [...packages, SHARED_SHAPES].some((prefix) => name.startsWith(prefix));
  return { ...document, paths: only(document.paths, isAbout), definitions: only(document.definitions, isShape) };
}

function only(members: Json | undefined, isWanted: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(isObject(members) ? members : {}).filter(([name]) => isWanted(name)));
}

const PARAMETER = "#/parameters/";

/** The names of shared parameters of version 2 hold a hash over what they say, descriptions included: here they stand where they are used. */
function withSharedParameters({ parameters, ...document }: JsonObject): Json {
  if (!isObject(parameters)) return document;
  return JSON.parse(JSON.stringify(document), (_, value) =>
    isObject(value) && typeof value.$ref === "string" && value.$ref.startsWith(PARAMETER)
      ? parameters[value.$ref.slice(PARAMETER.length)]
      : value,
  );
}

/**
 * An OpenAPI document without the sentences that Kubernetes' own sources put into it, which Binnacle leaves out: those of
 * operations, parameters and built-in shapes. What a definition describes stays.
 */
function withoutSentences(document: Json): Json {
  if (!isObject(document)) return document;
  const { paths, definitions, components, parameters } = document;
  const copy: JsonObject = { ...document };
  if (paths !== undefined) copy.paths = undescribed(paths);
  if (parameters !== undefined) copy.parameters = undescribed(parameters);
  if (isObject(definitions)) copy.definitions = shapes(definitions);
  if (isObject(components) && isObject(components.schemas)) {
    copy.components = { ...components, schemas: shapes(components.schemas) };
  }
  return copy;
}

function shapes(named: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(named).map(([name, shape]) => [
      name,
      name.startsWith("io.k8s.api") || name.startsWith("io.k8s.kube-aggregator") ? undescribed(shape) : custom(shape),
    ]),
  );
}

function undescribed(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(undescribed);
  if (!isObject(value)) return value ?? null;
  const entries = Object.entries(value).filter(([name, one]) => name !== "description" || typeof one !== "string");
  return Object.fromEntries(entries.map(([name, one]) => [name, undescribed(one)]));
}

/** The shape of a custom kind: what its object members, and those of objects within it, are described as goes. */
function custom(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(custom);
  if (!isObject(value)) return value ?? null;
  const copy = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, custom(one)]));
  const kinds = copy["x-kubernetes-group-version-kind"];
  if (kinds === undefined && copy["x-kubernetes-embedded-resource"] !== true) return copy;
  const properties = isObject(copy.properties) ? copy.properties : {};
  for (const name of OBJECT_MEMBERS) if (isObject(properties[name])) delete properties[name].description;
  const isList = JSON.stringify(kinds ?? "").includes('List"');
  if (isList) delete copy.description;
  return copy;
}
