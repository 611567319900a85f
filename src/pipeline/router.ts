import { unknownPath } from "../api/api-error.ts";
import type { Call, Handler } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import type { RequestInfo } from "../api/request-info.ts";
import type { Catalog } from "../resources/model/catalog.ts";

/** Answers some paths that are no objects; undefined means that the path is not its own. */
export type Endpoint = (call: Call) => Promise<ApiReply | undefined> | ApiReply | undefined;

/** What answers which requests. */
export interface Routes {
  readonly catalog: Catalog;
  /** Requests for objects of a served group version. */
  readonly objects: Handler;
  /** Everything else, tried in order. */
  readonly endpoints: readonly Endpoint[];
  /** Whether a resource that the catalog does not have is answered by `objects` all the same. Absent: none is. */
  readonly isOpen?: ((info: RequestInfo) => boolean) | undefined;
  /** Answers what belongs to another server, before everything else. Absent: nothing does. */
  readonly remote?: ((call: Call) => Promise<ApiReply> | undefined) | undefined;
}

const PAGE_NOT_FOUND: ApiReply = {
  type: "raw",
  code: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "404 page not found\n",
};

/** The innermost handler: objects, endpoints, or one of the two kinds of "not found". */
export function route({ catalog, objects, endpoints, isOpen, remote }: Routes): Handler {
  return async (call) => {
    const passedOn = remote?.(call);
    if (passedOn) return passedOn;
    const { info } = call;
    // Compat: RequestInfo reads `//api/v1/pods` as it reads `/api/v1/pods`; PathRecorderMux has no such path.
    const isPath = info.isResource && !info.path.startsWith("//");
    const isServed = isPath && catalog.hasGroupVersion(info.group, info.version);
    if (isServed && !isPassedOn(catalog, info)) return objects(call);
    if (isPath && isOpen?.(info)) return objects(call);
    if (isServed) return PAGE_NOT_FOUND;
    for (const endpoint of endpoints) {
      const reply = await endpoint(call);
      if (reply) return reply;
    }
    if (isBelowKnownGroup(catalog, call)) throw unknownPath();
    return PAGE_NOT_FOUND;
  };
}

/**
 * Compat: `crdHandler` passes on what it does not serve, so that a 404 in a group of custom resources is the line "404 page
 * not found", too.
 */
function isPassedOn(catalog: Catalog, { group, version, resource, isInNamespace, verb }: RequestInfo): boolean {
  if (catalog.hasGroup(group)) return false;
  const found = catalog.find(group, version, resource);
  if (!found) return true;
  if (found.definition.scope === "Cluster") return isInNamespace;
  return !isInNamespace && verb !== "list" && verb !== "watch";
}

/**
 * Compat: 404 below a group that exists, or below what else go-restful serves, is a Status ("the server could not find the
 * requested resource"); elsewhere `NotFoundHandler` answers the line "404 page not found".
 */
function isBelowKnownGroup(catalog: Catalog, { request }: Call): boolean {
  const [root, group = "", ...rest] = request.path.split("/").slice(1);
  if (root === "api" || root === "version") return group !== "" || rest.length > 0;
  return root === "apis" && group !== "" && rest.length > 0 && catalog.hasGroup(group);
}
