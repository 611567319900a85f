import { getMember } from "../util/members.ts";
/** The parsed path and method of a request. Non-resource requests have an empty resource. */
export interface RequestInfo {
  readonly isResource: boolean;
  /**
   * get, list, watch, create, update, patch, delete, deletecollection, or proxy, which is no longer served. For
   * non-resource requests, the method in lower case.
   */
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  /**
   * Whether the resource is below a namespace. False for the namespace itself, although `namespace` is then its name.
   */
  readonly isInNamespace: boolean;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The path after the subresource, without a leading slash. */
  readonly rest: string;
  /** Whether the path began with the deprecated `watch/`. */
  readonly watchPath: boolean;
  /** Whether the path ends after `watch/` or `proxy/`, so that it names no resource. */
  readonly isIncomplete: boolean;
}

const METHOD_VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
};

/**
 * Parses a boolean query parameter: missing, `0` and `false` are false, everything else (also an empty value) is true.
 */
export function isTruthy(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** Parses a request path. Never throws: an unknown path is a non-resource request. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = trimSlashes(path).split("/");
  const nonResource: RequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: "",
    version: "",
    namespace: "",
    isInNamespace: false,
    resource: "",
    subresource: "",
    name: "",
    rest: "",
    watchPath: false,
    isIncomplete: false,
  };
  const isCore = segments[0] === "api";
  if (!isCore && segments[0] !== "apis") return nonResource;
  if (segments.length < (isCore ? 3 : 4)) return nonResource;

  const group = isCore ? "" : (segments[1] ?? "");
  const version = (isCore ? segments[1] : segments[2]) ?? "";
  let rest = segments.slice(isCore ? 2 : 3);
  // Compat: specialVerbs of RequestInfoFactory. A role may allow "proxy", so authorization has to see it.
  const watchPath = rest[0] === "watch";
  const isProxy = rest[0] === "proxy";
  if (watchPath || isProxy) {
    if (rest.length === 1) return { ...nonResource, isIncomplete: true };
    rest = rest.slice(1);
  }

  let namespace = "";
  let isInNamespace = false;
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1] ?? "";
    // Compat: `/namespaces/{name}/status` and `/finalize` are subresources of the namespace. Everything else is inside
    // it.
    isInNamespace = rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize";
    if (isInNamespace) rest = rest.slice(2);
  }
  const [resource = "", name = "", subresource = ""] = rest;
  return {
    isResource: true,
    verb: watchPath ? "watch" : isProxy ? "proxy" : resourceVerb(method, name !== "", query),
    path,
    group,
    version,
    namespace,
    isInNamespace,
    resource,
    subresource: isProxy ? "" : subresource,
    name,
    rest: rest.slice(3).join("/"),
    watchPath,
    isIncomplete: false,
  };
}

/** Compat: splitPath of RequestInfoFactory trims all slashes at both ends; empty segments in between stay. */
function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (path[start] === "/") start++;
  while (end > start && path[end - 1] === "/") end--;
  return path.slice(start, end);
}

function resourceVerb(method: string, isNamed: boolean, query: URLSearchParams): string {
  if (method === "GET" || method === "HEAD") {
    if (isNamed) return "get";
    return isTruthy(query.get("watch")) ? "watch" : "list";
  }
  if (method === "DELETE") return isNamed ? "delete" : "deletecollection";
  return getMember(METHOD_VERBS, method) ?? "";
}
