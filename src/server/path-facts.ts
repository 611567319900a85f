import type { RequestInfo } from "../api/request-info.ts";
import type { BodyContext } from "../pipeline/read-body.ts";
import type { Catalog, ServedResource } from "../resources/model/catalog.ts";
import { strategyOf } from "../resources/strategies/strategy-of.ts";

/** What the stages and the encoding of a request ask about the resource that its path names. */
export interface PathFacts extends Pick<BodyContext, "kindOf"> {
  /** The resource, if there is one, and such a subresource of it. */
  findServed(info: RequestInfo): ServedResource | undefined;
  isLongRunning(info: RequestInfo): boolean;
  /** Whether what is behind an object answers, in a form of its own. */
  isPassedOn(info: RequestInfo): boolean;
  /** Whether what is sent there, or answered from there, is a secret that no log may have. */
  isSecret(info: RequestInfo): boolean;
  hasTable(info: RequestInfo): boolean;
  isUnstructured(info: RequestInfo): boolean;
}

/** Subresources of other servers that last. */
const STREAMED: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Answers by what the catalog has at the moment of the question; `isOpen` tells which other resources are answered. */
export function pathFacts(catalog: Catalog, isOpen: (info: RequestInfo) => boolean = () => false): PathFacts {
  const find = ({ group, version, resource }: RequestInfo) => catalog.find(group, version, resource);
  const kindOf: PathFacts["kindOf"] = (info) => {
    const found = find(info);
    if (!found) return isOpen(info) ? { apiVersion: "", kind: "", isUnstructured: true } : undefined;
    const { apiVersion, definition } = found;
    return { apiVersion, kind: definition.kind, isUnstructured: strategyOf(definition).isUnstructured };
  };
  return {
    kindOf,
    isUnstructured: (info) => kindOf(info)?.isUnstructured === true,
    findServed: (info) => {
      const found = find(info);
      return info.subresource === "" || found?.subresources[info.subresource] !== undefined ? found : undefined;
    },
    // Compat: BasicLongRunningRequestCheck; which subresources connect is told by their definition.
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
    // Only actions may have no columns: whatever is stored can be listed.
    hasTable: (info) => {
      const found = info.verb === "create" ? find(info) : undefined;
      if (found === undefined) return true;
      const { kind } = found.subresources[info.subresource] ?? {};
      return (kind ?? found.version).table !== undefined;
    },
  };
}
