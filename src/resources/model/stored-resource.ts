import type { Catalog, ServedResource } from "./catalog.ts";
import { storedApiVersion } from "./conversion.ts";

/**
 * A built-in kind in the version it is stored in. Throws when it is not served. Built-in groups may be served under another
 * API domain than the one that `group` has.
 */
export function storedResource(catalog: Catalog, group: string, plural: string): ServedResource {
  const candidates = catalog.definitions.filter((one) => one.plural === plural);
  const [label] = group.split(".");
  const definition =
    candidates.find((one) => one.group === group) ?? candidates.find((one) => one.group.split(".")[0] === label);
  if (!definition) throw new Error(`no kind is served as ${plural} of ${group || "the core group"}`);
  const found =
    catalog.findKind(storedApiVersion(definition), definition.kind) ??
    catalog.find(definition.group, definition.versions[0]?.name ?? "", plural);
  if (!found) throw new Error(`${plural} is not served in the version it is stored in`);
  return found;
}
