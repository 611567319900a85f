import { unknownPath } from "../../base/api/api-error.ts";
import type { Call, Handler } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Catalog } from "../../resources/model/catalog.ts";

/** Answers non-resource paths. Returns undefined for paths it does not serve. */
export type Endpoint = (call: Call) => Promise<ApiReply | undefined> | ApiReply | undefined;

/** Handlers by kind of path. */
export interface Routes {
  readonly catalog: Catalog;
  /** Serves resources of served group versions. */
  readonly objects: Handler;
  /** Non-resource endpoints, tried in order. */
  readonly endpoints: readonly Endpoint[];
  /** Whether `objects` serves a resource that is not in the catalog. Optional. If omitted, it serves none. */
  readonly isOpen?: ((info: RequestInfo) => boolean) | undefined;
  /** Optional. Tried first. Proxies paths of aggregated API servers; returns undefined for other paths. */
  readonly remote?: ((call: Call) => Promise<ApiReply> | undefined) | undefined;
}

const PAGE_NOT_FOUND: ApiReply = {
  type: "raw",
  code: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "404 page not found\n",
};

/** The innermost handler: objects, endpoints, or one of two kinds of 404. */
export function route({ catalog, objects, endpoints, isOpen, remote }: Routes): Handler {
  const other = async (call: Call): Promise<ApiReply> => {
    for (const endpoint of endpoints) {
      const reply = await endpoint(call);
      if (reply) return reply;
    }
    if (isBelowKnownGroup(catalog, call)) throw unknownPath();
    return PAGE_NOT_FOUND;
  };
  return (call) => {
    const passedOn = remote?.(call);
    if (passedOn) return passedOn;
    const { info } = call;
    // Compat: RequestInfo parses `//api/v1/pods` like `/api/v1/pods`, but PathRecorderMux does not serve it.
    const isPath = info.isResource && !info.path.startsWith("//");
    const isServed = isPath && catalog.hasGroupVersion(info.group, info.version);
    if (isServed && !isPassedOn(catalog, info)) return objects(call);
    if (isPath && isOpen?.(info)) return objects(call);
    return isServed ? PAGE_NOT_FOUND : other(call);
  };
}

/**
 * Compat: `crdHandler` delegates paths that it does not serve, so a 404 in a group of custom resources is the plain
 * text "404 page not found".
 */
function isPassedOn(catalog: Catalog, { group, version, resource, isInNamespace, verb }: RequestInfo): boolean {
  if (catalog.hasGroup(group)) return false;
  const found = catalog.find(group, version, resource);
  if (!found) return true;
  if (found.definition.scope === "Cluster") return isInNamespace;
  return !isInNamespace && verb !== "list" && verb !== "watch";
}

/**
 * Compat: a 404 below an existing group, or below other paths of go-restful, is a Status ("the server could not find
 * the requested resource"). Elsewhere `NotFoundHandler` answers with the plain text "404 page not found".
 */
function isBelowKnownGroup(catalog: Catalog, { request }: Call): boolean {
  const [root, group = "", ...rest] = request.path.split("/").slice(1);
  if (root === "api" || root === "version") return group !== "" || rest.length > 0;
  return root === "apis" && group !== "" && rest.length > 0 && catalog.hasGroup(group);
}
