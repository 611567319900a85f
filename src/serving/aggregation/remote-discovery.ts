import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";

/** Maximum number of resources listed per extension server. */
const MAX_RESOURCES = 2000;

/**
 * Converts an APIResourceList to the format of aggregated discovery. Upstream: `convertAPIResourceList` of the
 * discovery manager, for servers without aggregated discovery.
 */
export function discoveredResources(group: string, version: string, list: Json | undefined): JsonObject[] {
  const resources = isObject(list) && Array.isArray(list.resources) ? list.resources.filter(isObject) : [];
  const found = new Map<string, JsonObject>();
  const parts = new Map<string, JsonObject[]>();
  for (const resource of resources.slice(0, MAX_RESOURCES)) {
    const { name, kind, verbs = [], namespaced, singularName, shortNames, categories } = resource;
    if (typeof name !== "string" || typeof kind !== "string") continue;
    const responseKind = {
      group: typeof resource.group === "string" ? resource.group : group,
      version: typeof resource.version === "string" ? resource.version : version,
      kind,
    };
    const [plural = "", subresource] = name.split("/", 2);
    if (subresource !== undefined) {
      const known = parts.get(plural) ?? [];
      parts.set(plural, known);
      known.push({ subresource, responseKind, verbs });
      continue;
    }
    found.set(plural, {
      resource: plural,
      responseKind,
      scope: namespaced === true ? "Namespaced" : "Cluster",
      singularResource: typeof singularName === "string" ? singularName : "",
      verbs,
      ...(Array.isArray(shortNames) && { shortNames }),
      ...(Array.isArray(categories) && { categories }),
    });
  }
  for (const [plural, subresources] of parts) {
    const parent = found.get(plural);
    if (parent) parent.subresources = subresources;
  }
  return [...found.values()];
}
