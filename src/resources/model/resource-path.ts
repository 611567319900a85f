import { groupVersionPath } from "../../base/api/object.ts";
import type { ServedResource } from "./catalog.ts";
import type { ObjectKey } from "./keys.ts";

/** The URL path of an object, or of its collection if `name` is empty. */
export function pathOf(
  { definition, apiVersion }: ServedResource,
  { namespace, name }: ObjectKey,
  subresource?: string,
): string {
  const scope = definition.scope === "Namespaced" ? `/namespaces/${namespace}` : "";
  const object = name === "" ? "" : `/${name}`;
  const part = subresource === undefined ? "" : `/${subresource}`;
  return `${groupVersionPath(apiVersion)}${scope}/${definition.plural}${object}${part}`;
}
