import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { plainError } from "../../base/api/api-error.ts";
import type { ApiRequest } from "../../base/api/call.ts";
import type { ConnectReply } from "../../base/api/channel.ts";
import type { ApiReply } from "../../base/api/reply.ts";

/** Hop-by-hop headers, and headers for this server only. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "expect",
  "authorization",
]);
/** Impersonation and front-proxy headers. */
const CREDENTIAL_PREFIXES: readonly string[] = ["x-remote-", "impersonate-"];
const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** Headers of a proxied request or response. */
export type PassedHeaders = Record<string, string | string[]>;

/**
 * The headers of a proxied request: without credentials and hop-by-hop headers, and with X-Forwarded-For. `exchange`
 * sets the headers for body framing.
 */
export function passedHeaders(request: ApiRequest): PassedHeaders {
  const { headers, remoteAddress, upgrade, authority } = request;
  const dropped = connectionOptions(headers.connection);
  const passed: PassedHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || NOT_PASSED_ON.has(name) || dropped.has(name)) continue;
    if (CREDENTIAL_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    // Compat: `http.Transport` omits an empty `User-Agent`.
    if (name === "user-agent" && value === "") continue;
    passed[name] = typeof value === "string" ? value : [...value];
  }
  passed.host = authority;
  if (remoteAddress !== undefined) {
    const before = passed["x-forwarded-for"];
    passed["x-forwarded-for"] =
      before === undefined ? remoteAddress : `${[before].flat().join(", ")}, ${remoteAddress}`;
  }
  if (upgrade !== "") {
    passed.connection = "Upgrade";
    passed.upgrade = [headers.upgrade ?? upgrade].flat()[0] ?? upgrade;
    const protocols = passed["sec-websocket-protocol"];
    if (protocols !== undefined) passed["sec-websocket-protocol"] = withoutToken(protocols);
  }
  return passed;
}

/** The header names listed in the `Connection` header. */
function connectionOptions(connection: ApiRequest["headers"][string]): ReadonlySet<string> {
  const texts = [connection ?? ""].flat() as string[];
  return new Set(texts.flatMap((text) => text.split(",").map((name) => name.trim().toLowerCase())));
}

function withoutToken(protocols: string | string[]): string {
  const names = [protocols].flat().flatMap((line) => line.split(",").map((name) => name.trim()));
  return names.filter((name) => !name.startsWith(TOKEN_PROTOCOL)).join(",");
}

/** The response of a backend, with its socket if it switched protocols. */
export interface Answered {
  readonly response: IncomingMessage;
  readonly socket?: Duplex;
  readonly head?: Buffer;
}

const BODILESS: readonly string[] = ["GET", "HEAD", "DELETE", "OPTIONS"];

/**
 * Sends the request body with backpressure and resolves with the head of the response. For some methods Node would send
 * a body of unknown length without framing, which the backend would parse as another request. Therefore it is always
 * chunked here. Rejects with the error of Node's client.
 */
export async function exchange(outgoing: ClientRequest, request: ApiRequest): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  outgoing.on("response", (response) => resolve({ response }));
  outgoing.on("upgrade", (response, socket, head) => resolve({ response, socket, head }));
  outgoing.on("error", reject);
  // A server option that works for clients too: never sends more than the announced length.
  Object.assign(outgoing, { strictContentLength: true });
  if (request.upgrade !== "") outgoing.end();
  else sendBody(outgoing, request).catch(reject);
  return promise;
}

async function sendBody(outgoing: ClientRequest, request: ApiRequest): Promise<void> {
  const body = request.bodyStream();
  if (outgoing.hasHeader("content-length")) return pipeline(body, outgoing);
  if (request.headers["transfer-encoding"] !== undefined) {
    outgoing.setHeader("transfer-encoding", "chunked");
    outgoing.flushHeaders();
    return pipeline(body, outgoing);
  }
  // An HTTP/2 request may have a body without announcing it.
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) {
    if (!BODILESS.includes(request.method)) outgoing.setHeader("content-length", "0");
    outgoing.end();
    return undefined;
  }
  outgoing.setHeader("transfer-encoding", "chunked");
  outgoing.write(first.value);
  return pipeline({ [Symbol.asyncIterator]: () => chunks }, outgoing);
}

/** CORS headers. Compat: only this server sets them (`corsRemovingTransport`). */
const CORS: ReadonlySet<string> = new Set(
  ["origin", "credentials", "headers", "methods"].map((name) => `access-control-allow-${name}`),
);

/**
 * The headers of a proxied response. Compat: `ReverseProxy` adds them to those of the server, so the backend's
 * Cache-Control follows `no-cache, private`.
 */
export function answeredHeaders(response: IncomingMessage): PassedHeaders {
  const kept = keptHeaders(response);
  const { "cache-control": caching } = kept;
  return caching === undefined ? kept : { ...kept, "cache-control": ["no-cache, private", ...[caching].flat()] };
}

function keptHeaders({ headers }: IncomingMessage): PassedHeaders {
  const dropped = connectionOptions(headers.connection);
  const kept: PassedHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_PASSED_ON.has(name) || dropped.has(name) || CORS.has(name)) continue;
    kept[name] = value;
  }
  return kept;
}

/**
 * Forwards the rejection of an upgrade by the backend. The backend connection is closed afterwards, so it cannot be
 * reused.
 */
export function refusedUpgrade(response: IncomingMessage): ApiReply {
  const { socket, statusCode: code = 500 } = response;
  response.once("end", () => socket.destroy());
  if (code < 400) {
    socket.destroy();
    throw plainError(500, `invalid upgrade response: status code ${code}`);
  }
  return { type: "encoded", code, headers: answeredHeaders(response), body: response };
}

/** Connects the client to a backend that switched protocols. Throws if it is not the requested protocol. */
export function upgradedReply(
  { response, socket, head }: Answered & { readonly socket: Duplex },
  { upgrade, signal }: Pick<ApiRequest, "upgrade" | "signal">,
): ConnectReply {
  const { upgrade: protocol = "" } = response.headers;
  if (protocol.toLowerCase() !== upgrade || upgrade === "") {
    socket.destroy();
    throw plainError(500, "invalid upgrade response: the backend changed to another protocol");
  }
  const headers = Object.fromEntries(
    Object.entries(keptHeaders(response)).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
  if (head !== undefined && head.length > 0) socket.unshift(head);
  destroyOnAbort(socket, signal);
  return {
    type: "connect",
    over: "upgrade",
    protocol,
    headers,
    run: (connection) => relay(connection, socket),
  };
}

/** Destroys a backend connection when the client disconnects, at any stage of the request. */
export function destroyOnAbort(socket: Duplex, signal: AbortSignal): void {
  const destroy = (): void => void socket.destroy();
  socket.on("error", destroy);
  if (signal.aborted) destroy();
  signal.addEventListener("abort", destroy, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", destroy));
}

/** Copies in both directions with backpressure until one side ends. Destroys `socket` at the end. */
export function relay(connection: Duplex, socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.destroy();
      resolve();
    };
    copy(connection, socket, done);
    copy(socket, connection, done);
    connection.once("close", done);
    socket.once("close", done);
  });
}

/** `done` is called after the end has been written. A Node pipeline would need twice as many listeners. */
function copy(from: Duplex, to: Duplex, done: () => void): void {
  from.on("data", (chunk: Buffer) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on("drain", () => from.resume());
  from.once("end", () => {
    if (to.writable) to.end(done);
    else done();
  });
}
