import type { Catalog, ServedResource } from "../../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";

/**
 * Other resources that serve the same objects: other versions, and other groups with the same storage, such as the
 * events of both groups. In discovery order. Upstream: `EquivalentResourceRegistry`.
 */
export function equivalentResources(catalog: Catalog, resource: ServedResource, subresource: string): ServedResource[] {
  const place = placeOf(resource.definition);
  const found: ServedResource[] = [];
  for (const definition of catalog.definitions) {
    if (placeOf(definition) !== place) continue;
    for (const version of definition.versions) {
      const other = catalog.find(definition.group, version.name, definition.plural);
      if (!other || other.apiVersion === resource.apiVersion) continue;
      if (subresource === "" || Object.hasOwn(other.subresources, subresource)) found.push(other);
    }
  }
  return found;
}

/** Compat: `ResourcePrefix` of the storage. The plural name if nothing is stored. */
function placeOf({ storage, plural }: ResourceDefinition): string {
  return storage?.prefix ?? plural;
}
