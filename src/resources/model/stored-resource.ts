import type { Catalog, ServedResource } from "./catalog.ts";
import { storedApiVersion } from "./conversion.ts";

/**
 * A built-in kind in its storage version. Throws if it is not served. Built-in groups may be served under another API
 * domain than that of `group`.
 */
export function storedResource(catalog: Catalog, group: string, plural: string): ServedResource {
  const candidates = catalog.definitions.filter((one) => one.plural === plural);
  const [label] = group.split(".");
  const definition =
    candidates.find((one) => one.group === group) ?? candidates.find((one) => one.group.split(".")[0] === label);
  if (!definition) throw new Error(`${plural} of ${group || "the core group"} is not served`);
  const found =
    catalog.findKind(storedApiVersion(definition), definition.kind) ??
    catalog.find(definition.group, definition.versions[0]?.name ?? "", plural);
  if (!found) throw new Error(`${plural} is not served in its storage version`);
  return found;
}
