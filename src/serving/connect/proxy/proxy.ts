import { plainError, serviceUnavailable } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { escapePath, joinPath } from "../../../base/go/url-escape.ts";
import type { HttpClient, OutgoingRequest } from "../../../base/net/http-client.ts";
import { transportError } from "../../../base/net/transport-error.ts";
import { type Backend, joinHostPort, openBackend } from "../backend.ts";
import { type Answered, exchange, passedHeaders, refusedUpgrade, upgradedReply } from "../exchange.ts";
import { rewriteAnswer } from "./rewrite-answer.ts";

/** How a request is forwarded to the backend of a proxy. */
export interface ProxyOptions {
  readonly http: HttpClient;
  /** Rejects redirects to other hosts. Default: false. */
  readonly refusesRedirects?: boolean;
}

/** Forwards a request with the path after the subresource. Upstream: `UpgradeAwareHandler.ServeHTTP`. */
export async function passOn(call: Call, backend: Backend, options: ProxyOptions): Promise<ApiReply> {
  const { request } = call;
  const path = joinPath("", subpathOf(call));
  if (request.upgrade !== "") return upgrade(call, backend, options.http, escapePath(path));
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (path === "" && isRead) return toSlash(call);
  return passPlainly(call, backend, path, options);
}

/** The path after the subresource, including slashes. Upstream: `getRequestOptions`. */
export function subpathOf({ info, request }: Call): string {
  const path = info.rest === "" || info.rest.startsWith("/") ? info.rest : `/${info.rest}`;
  return request.path.endsWith("/") && !path.endsWith("/") ? `${path}/` : path;
}

const queryOf = (uri: string): string => {
  const mark = uri.indexOf("?");
  // Compat: a question mark without query is dropped, as `RawQuery` is empty.
  return mark < 0 || mark === uri.length - 1 ? "" : uri.slice(mark);
};

/** Redirects to the path with a trailing slash. Otherwise relative links would lose the last segment. */
function toSlash({ request }: Call): ApiReply {
  const location = `${escapePath(request.path)}/${queryOf(request.uri)}`;
  return { type: "raw", code: 301, headers: { location }, body: "" };
}

async function passPlainly(call: Call, backend: Backend, path: string, options: ProxyOptions): Promise<ApiReply> {
  const { request, signal } = call;
  const headers = passedHeaders(request);
  const prefix = prefixOf(request.path, path);
  headers["x-forwarded-uri"] = joinPath(prefix, escapePath(path) || "/");
  const uri = `${escapePath(path) || "/"}${queryOf(request.uri)}`;
  let answered: Answered;
  try {
    const outgoing = await openBackend(options.http, backend, { method: request.method, path: uri, headers, signal });
    answered = await exchange(outgoing, request);
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    throw serviceUnavailable(`error trying to reach service: ${transportError(error)}`);
  }
  const { response } = answered;
  const { socket } = answered;
  // Throws, because the client did not request an upgrade.
  if (socket) return upgradedReply({ ...answered, socket }, request);
  const backendHost = joinHostPort(backend.host, backend.port);
  const { headers: kept, body } = rewriteAnswer(response, { prefix, backendHost, requestHost: request.authority });
  const { statusCode: code = 502 } = response;
  if (options.refusesRedirects && isElsewhere(code, kept.location)) {
    response.destroy();
    throw plainError(502, "the backend attempted to redirect this request, which is not permitted");
  }
  return { type: "stream", code, headers: kept, body };
}

/**
 * The part of the request path before the backend's path. Upstream: `defaultProxyTransport`, in which `a//b` does not
 * end with `a/b`.
 */
function prefixOf(asked: string, path: string): string {
  const suffix = asked.endsWith("/") && !path.endsWith("/") ? `${path}/` : path;
  return asked.endsWith(suffix) ? asked.slice(0, asked.length - suffix.length) : asked;
}

/** Whether a response redirects the client to another host. */
function isElsewhere(code: number, location: string | string[] | undefined): boolean {
  return code >= 300 && code < 400 && typeof location === "string" && !/^\/(?![/\\])/.test(location);
}

/** Forwards an upgrade. Compat: the messages of `UpgradeAwareHandler.tryUpgrade`. */
async function upgrade(call: Call, backend: Backend, http: HttpClient, path: string): Promise<ApiReply> {
  const { request, signal } = call;
  const head = { method: request.method, path: path || "/", headers: passedHeaders(request), signal };
  return upgradeWith(call, backend, http, head);
}

/** Forwards an upgrade with the given request head. */
export async function upgradeWith(
  { request, signal }: Call,
  backend: Backend,
  http: HttpClient,
  head: OutgoingRequest & { readonly path: string },
): Promise<ApiReply> {
  let answered: Answered;
  try {
    answered = await exchange(await openBackend(http, backend, head), request);
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    throw plainError(500, `error dialing backend: ${transportError(error)}`);
  }
  const { response, socket } = answered;
  if (socket) return upgradedReply({ ...answered, socket }, request);
  return refusedUpgrade(response);
}
