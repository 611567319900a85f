import { plainError, serviceUnavailable } from "../../api/api-error.ts";
import type { Call } from "../../api/call.ts";
import type { ApiReply } from "../../api/reply.ts";
import type { HttpClient, OutgoingRequest } from "../../client/http-client.ts";
import { transportError } from "../../client/transport-error.ts";
import { escapePath, joinPath } from "../../lib/go/url-escape.ts";
import { type Backend, joinHostPort, openBackend } from "../backend.ts";
import { type Answered, exchange, passedHeaders, refusedUpgrade, upgradedReply } from "../exchange.ts";
import { rewriteAnswer } from "./rewrite-answer.ts";

/** How a request is passed on to the backend of a proxy. */
export interface ProxyOptions {
  readonly http: HttpClient;
  /** Nobody is sent to another host by it. */
  readonly refusesRedirects?: boolean;
}

/** Passes a request on, with the path that follows the subresource. Upstream: `UpgradeAwareHandler.ServeHTTP`. */
export async function passOn(call: Call, backend: Backend, options: ProxyOptions): Promise<ApiReply> {
  const { request } = call;
  const path = joinPath("", subpathOf(call));
  if (request.upgrade !== "") return upgrade(call, backend, options.http, escapePath(path));
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (path === "" && isRead) return toSlash(call);
  return passPlainly(call, backend, path, options);
}

/** The path behind the subresource, with its slashes. Upstream: `getRequestOptions`. */
export function subpathOf({ info, request }: Call): string {
  const path = info.rest === "" || info.rest.startsWith("/") ? info.rest : `/${info.rest}`;
  return request.path.endsWith("/") && !path.endsWith("/") ? `${path}/` : path;
}

const queryOf = (uri: string): string => {
  const mark = uri.indexOf("?");
  // Compat: a question mark with nothing after it is not passed on, as `RawQuery` is empty.
  return mark < 0 || mark === uri.length - 1 ? "" : uri.slice(mark);
};

/** Relative links of a page would lose the last segment otherwise. */
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
  // Nobody asked for another protocol, so that it throws.
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

/** What stands before the backend's path in that of the request. Upstream: `defaultProxyTransport`, for whom `a//b` does not end with `a/b`. */
function prefixOf(asked: string, path: string): string {
  const suffix = asked.endsWith("/") && !path.endsWith("/") ? `${path}/` : path;
  return asked.endsWith(suffix) ? asked.slice(0, asked.length - suffix.length) : asked;
}

/** Whether an answer sends the client to another host. */
function isElsewhere(code: number, location: string | string[] | undefined): boolean {
  return code >= 300 && code < 400 && typeof location === "string" && !/^\/(?![/\\])/.test(location);
}

/** Compat: the texts of `UpgradeAwareHandler.tryUpgrade`. Nothing more is passed on once an upgrade has failed. */
async function upgrade(call: Call, backend: Backend, http: HttpClient, path: string): Promise<ApiReply> {
  const { request, signal } = call;
  const head = { method: request.method, path: path || "/", headers: passedHeaders(request), signal };
  return upgradeWith(call, backend, http, head);
}

/** The same with a request that is told in full. */
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
