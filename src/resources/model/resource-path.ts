import { groupVersionPath } from "../../api/object.ts";
import type { ServedResource } from "./catalog.ts";
import type { ObjectKey } from "./keys.ts";

/** Where an object is, or without a name all of its kind. */
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
