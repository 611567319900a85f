import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Backend, ResolveService } from "../../base/net/service-backend.ts";
import { transportError } from "../../base/net/transport-error.ts";
import {
  answeredHeaders,
  exchange,
  type PassedHeaders,
  passedHeaders,
  refusedUpgrade,
  upgradedReply,
} from "../connect/exchange.ts";
import type { RemoteApi } from "./api-service.ts";
import type { ApiServiceIndex } from "./api-service-index.ts";
import type { ExtensionClient } from "./extension-client.ts";
import { OPENAPI_READER } from "./remote-openapi.ts";

const PLAIN = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
const REDIRECTED = "the backend attempted to redirect this request, which is not permitted";

const plain = (code: number, text: string): ApiReply => ({ type: "raw", code, headers: PLAIN, body: `${text}\n` });

/** Options of the aggregation proxy. */
export interface ProxyOptions {
  readonly index: ApiServiceIndex;
  readonly client: ExtensionClient;
  readonly resolve: ResolveService;
}

/** The group version of a path, or of an OpenAPI v3 document path. Undefined for other paths. */
export function groupVersionOf(path: string): readonly [group: string, version: string] | undefined {
  const segments = path.split("/", 6);
  const at = segments[1] === "openapi" && segments[2] === "v3" ? 3 : 1;
  const [root, group = "", version = ""] = segments.slice(at);
  return root === "apis" && group !== "" && version !== "" ? [group, version] : undefined;
}

/** The extension server of a path. Undefined if there is none. */
export function remoteOf(index: ApiServiceIndex, path: string): RemoteApi | undefined {
  const found = index.isEmpty ? undefined : groupVersionOf(path);
  return found && index.find(found[0], found[1]);
}

/** Proxies requests to extension servers. Returns undefined for other paths. Upstream: `proxyHandler`. */
export function proxy({ index, client, resolve }: ProxyOptions): (call: Call) => Promise<ApiReply> | undefined {
  return (call) => {
    const api = remoteOf(index, call.request.path);
    return api && passOn(api, call, client, resolve);
  };
}

async function passOn(api: RemoteApi, call: Call, client: ExtensionClient, resolve: ResolveService): Promise<ApiReply> {
  if (api.availability?.status !== "True") return plain(503, "service unavailable");
  const backend = await resolve(api.service).catch(() => undefined);
  if (!backend) return plain(503, "service unavailable");
  try {
    return await pass(api, backend, call, client);
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason ?? error;
    return plain(503, `error trying to reach service: ${transportError(error)}`);
  }
}

async function pass(api: RemoteApi, backend: Backend, call: Call, client: ExtensionClient): Promise<ApiReply> {
  const { request, user, signal } = call;
  const outgoing = await client.request(api, backend, {
    method: request.method,
    uri: request.uri,
    headers: headersFor(api, call),
    // Compat: OpenAPI documents are read as `system:aggregator`, once the caller is authorized to read them here.
    user: request.path.startsWith("/apis/") ? user : OPENAPI_READER,
    signal,
  });
  const answered = await exchange(outgoing, request);
  const { response, socket } = answered;
  if (socket) return upgradedReply({ ...answered, socket }, request);
  const { statusCode: code = 502, headers } = response;
  // Compat: `--aggregator-reject-forwarding-redirect`: redirects of extension servers are rejected.
  if (code >= 300 && code < 400 && headers.location !== undefined) {
    response.destroy();
    return plain(502, REDIRECTED);
  }
  if (request.upgrade !== "") return refusedUpgrade(response);
  const kept = answeredHeaders(response);
  const body = response as AsyncIterable<Uint8Array>;
  if (call.info.verb === "watch") return { type: "stream", code, headers: kept, body };
  return { type: "encoded", code, headers: { ...kept, "audit-id": call.auditId }, body };
}

function headersFor({ service }: RemoteApi, { request, auditId }: Call): PassedHeaders {
  const headers = passedHeaders(request);
  headers.host = `${service.name}.${service.namespace}.svc:${service.port}`;
  headers["x-forwarded-host"] = request.authority;
  headers["x-forwarded-proto"] = "https";
  headers["x-forwarded-uri"] = encodeURI(request.path);
  headers["audit-id"] = auditId;
  return headers;
}
