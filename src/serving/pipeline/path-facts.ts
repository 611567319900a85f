import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Catalog, ServedResource } from "../../resources/model/catalog.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { BodyContext } from "./read-body.ts";

/** Facts about the resource of a request path, for the stages and the encoding. */
export interface PathFacts extends Pick<BodyContext, "kindOf"> {
  /** The resource, if it exists and has the subresource that the path names. */
  findServed(info: RequestInfo): ServedResource | undefined;
  isLongRunning(info: RequestInfo): boolean;
  /** Whether a kubelet, pod or service behind the object answers, in its own format (for example `proxy`). */
  isPassedOn(info: RequestInfo): boolean;
  /** Whether request or response bodies contain secrets that must not be logged. */
  isSecret(info: RequestInfo): boolean;
  hasTable(info: RequestInfo): boolean;
  isUnstructured(info: RequestInfo): boolean;
}

/** Long-running subresources of resources that other servers serve. */
const STREAMED: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Looks up facts in the catalog at call time. `isOpen`: which resources outside of the catalog are served too. */
export function pathFacts(catalog: Catalog, isOpen: (info: RequestInfo) => boolean = () => false): PathFacts {
  const find = ({ group, version, resource }: RequestInfo) => catalog.find(group, version, resource);
  const kindOf: PathFacts["kindOf"] = (info) => {
    const found = find(info);
    if (!found) return isOpen(info) ? { apiVersion: "", kind: "", isUnstructured: true } : undefined;
    const { apiVersion, definition, subresources } = found;
    const below = info.subresource === "" ? undefined : subresources[info.subresource];
    const maxBodyBytes = below?.maxBodyBytes ?? (below?.kind ? undefined : definition.rules.maxBodyBytes);
    return { apiVersion, kind: definition.kind, isUnstructured: strategyOf(definition).isUnstructured, maxBodyBytes };
  };
  return {
    kindOf,
    isUnstructured: (info) => kindOf(info)?.isUnstructured === true,
    findServed: (info) => {
      const found = find(info);
      return info.subresource === "" || found?.subresources[info.subresource] !== undefined ? found : undefined;
    },
    // Compat: BasicLongRunningRequestCheck, but the definition of a subresource decides whether it connects.
    isLongRunning: (info) => {
      if (info.verb === "watch" || info.subresource === "") return info.verb === "watch";
      const found = find(info);
      return found ? found.subresources[info.subresource]?.connect === true : STREAMED.has(info.subresource);
    },
    isPassedOn: (info) => {
      const below = info.subresource === "" ? undefined : find(info)?.subresources[info.subresource];
      return below?.connect === true && below.kind !== undefined;
    },
    isSecret: (info) => {
      const found = info.isResource ? find(info) : undefined;
      return found?.definition.rules.isSecret === true || found?.subresources[info.subresource]?.isSecret === true;
    },
    // Only actions may lack columns, as every stored kind can be listed.
    hasTable: (info) => {
      const found = info.verb === "create" ? find(info) : undefined;
      if (found === undefined) return true;
      const { kind } = found.subresources[info.subresource] ?? {};
      return (kind ?? found.version).table !== undefined;
    },
  };
}
