import { createHash } from "node:crypto";
import { methodNotAllowed } from "../../../base/api/api-error.ts";
import type { ApiRequest, Call } from "../../../base/api/call.ts";
import { apiVersionOf, type JsonObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { type AcceptClause, parseAccept } from "../../../data/encoding/negotiation/accept.ts";
import { headerOf } from "../../../data/encoding/reply/encoded-reply.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiResourceList,
  type DiscoveredGroup,
  type DiscoverySource,
  discoverGroups,
} from "./discovery-documents.ts";

const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** An encoded aggregated document and its ETag. */
interface Aggregated {
  readonly body: string;
  readonly etag: string;
}

/** All discovery documents for one set of definitions, each built on first use. Keys are paths without trailing slash. */
interface Documents {
  readonly documents: ReadonlyMap<string, () => JsonObject>;
  readonly aggregated: ReadonlyMap<string, () => Aggregated>;
}

/**
 * Serves discovery: `/api`, `/apis` and the paths of groups and group versions. Returns undefined for other paths.
 * Throws ApiError 405 for methods other than GET.
 */
export function discovery(source: DiscoverySource): (call: Call) => ApiReply | undefined {
  const current = memoise(source);
  return (call) => {
    const { request } = call;
    const path = request.path.length > 1 && request.path.endsWith("/") ? request.path.slice(0, -1) : request.path;
    const { documents, aggregated } = current();
    const document = path === "/api" ? apiVersions(request) : documents.get(path)?.();
    if (document === undefined) return undefined;
    // Compat: `/apis` and `/apis/<group>` are plain handlers of kube-aggregator (`apisHandler`, `apiGroupHandler`),
    // which ignore the method.
    const isGroup = path === "/apis" || /^\/apis\/[^/]+$/.test(path);
    if (request.method !== "GET" && !isGroup) throw methodNotAllowed();
    const wanted = aggregated.get(path);
    if (wanted === undefined) return { type: "document", code: 200, value: document };
    return prefersAggregated(request) ? aggregatedReply(request, wanted()) : plainReply(document);
  };
}

/** Returns the paths that discovery currently serves, sorted. */
export function discoveryPaths(source: DiscoverySource): () => string[] {
  const current = memoise(source);
  return () => ["/api", "/apis/", ...current().documents.keys()].sort();
}

function memoise(source: DiscoverySource): () => Documents {
  let known: readonly ResourceDefinition[] | undefined;
  let knownRemote: readonly unknown[] | undefined;
  let documents: Documents = { documents: new Map(), aggregated: new Map() };
  return () => {
    const definitions = source.definitions();
    const remote = source.remote?.();
    if (definitions === known && remote === knownRemote) return documents;
    documents = buildDocuments(discoverGroups(source));
    known = definitions;
    knownRemote = remote;
    return documents;
  };
}

function buildDocuments(groups: readonly DiscoveredGroup[]): Documents {
  const core = groups.filter((group) => group.name === "");
  const named = groups.filter((group) => group.name !== "");
  const documents = new Map<string, () => JsonObject>();
  const set = (path: string, build: () => JsonObject) => documents.set(path, lazily(build));
  set("/apis", () => ({ kind: "APIGroupList", apiVersion: "v1", groups: named.map(apiGroup) }));
  for (const group of groups) {
    const root = group.name === "" ? "/api" : `/apis/${group.name}`;
    if (group.name !== "") set(root, () => ({ kind: "APIGroup", apiVersion: "v1", ...apiGroup(group) }));
    for (const { name, resources, remote } of group.versions) {
      // The aggregated API server serves this path itself.
      if (remote) continue;
      set(`${root}/${name}`, () => apiResourceList(apiVersionOf(group.name, name), resources));
    }
  }
  return {
    documents,
    aggregated: new Map([
      ["/api", lazily(() => aggregate(core))],
      ["/apis", lazily(() => aggregate(named))],
    ]),
  };
}

/** Calls `build` when the result is needed for the first time. */
function lazily<T extends {}>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}

function aggregate(groups: readonly DiscoveredGroup[]): Aggregated {
  const body = `${JSON.stringify(apiGroupDiscoveryList(groups))}\n`;
  return { body, etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"` };
}

function apiVersions(request: ApiRequest): JsonObject {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: request.authority }],
  };
}

function isJson({ type, subtype }: AcceptClause): boolean {
  return (type === "*" || type === "application") && (subtype === "*" || subtype === "json");
}

/** Whether the aggregated format is the first available one in the Accept header. */
function prefersAggregated(request: ApiRequest): boolean {
  for (const clause of parseAccept(headerOf(request.headers, "accept") ?? "")) {
    const { as, g, v } = clause.parameters;
    if (as === undefined) return false;
    if (isJson(clause) && as === "APIGroupDiscoveryList" && g === "apidiscovery.k8s.io" && v === "v2") return true;
  }
  return false;
}

/** Encoded already, because the ETag identifies exactly these bytes. */
function aggregatedReply(request: ApiRequest, { body, etag }: Aggregated): ApiReply {
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (headerOf(request.headers, "if-none-match") === etag) return { type: "raw", code: 304, headers, body: "" };
  return { type: "raw", code: 200, headers: { ...headers, "content-type": AGGREGATED_TYPE }, body };
}

function plainReply(value: JsonObject): ApiReply {
  return { type: "document", code: 200, value, headers: { vary: "Accept" } };
}
