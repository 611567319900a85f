import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { plainError } from "../api/api-error.ts";
import type { ApiRequest } from "../api/call.ts";
import type { ConnectReply } from "../api/channel.ts";
import type { ApiReply } from "../api/reply.ts";

/** About one connection only, or for this server only. */
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
/** By these somebody is taken for somebody else. */
const CREDENTIAL_PREFIXES: readonly string[] = ["x-remote-", "impersonate-"];
const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** Headers of a request or an answer on their way to the other side. */
export type PassedHeaders = Record<string, string | string[]>;

/**
 * The headers of a request that is passed on: without credentials, without what is about the client's connection, and with
 * where it came from. The framing of the body is `exchange`'s to say.
 */
export function passedHeaders(request: ApiRequest): PassedHeaders {
  const { headers, remoteAddress, upgrade, authority } = request;
  const dropped = connectionOptions(headers.connection);
  const passed: PassedHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || NOT_PASSED_ON.has(name) || dropped.has(name)) continue;
    if (CREDENTIAL_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    // Compat: `http.Transport` leaves out an empty `User-Agent`.
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

/** The headers that `Connection` says are about the connection. */
function connectionOptions(connection: ApiRequest["headers"][string]): ReadonlySet<string> {
  const texts = [connection ?? ""].flat() as string[];
  return new Set(texts.flatMap((text) => text.split(",").map((name) => name.trim().toLowerCase())));
}

function withoutToken(protocols: string | string[]): string {
  const names = [protocols].flat().flatMap((line) => line.split(",").map((name) => name.trim()));
  return names.filter((name) => !name.startsWith(TOKEN_PROTOCOL)).join(",");
}

/** What a backend answered: a response, or the connection if it changed the protocol. */
export interface Answered {
  readonly response: IncomingMessage;
  readonly socket?: Duplex;
  readonly head?: Buffer;
}

const BODILESS: readonly string[] = ["GET", "HEAD", "DELETE", "OPTIONS"];

/**
 * Sends the body of a request, and resolves with the head of the answer. One of them is read only as fast as the other is
 * written. Node would send a body that has no length without any frame for some methods, so that the backend takes it for
 * another request: it is always chunked here. Rejects with what Node's client says.
 */
export async function exchange(outgoing: ClientRequest, request: ApiRequest): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  outgoing.on("response", (response) => resolve({ response }));
  outgoing.on("upgrade", (response, socket, head) => resolve({ response, socket, head }));
  outgoing.on("error", reject);
  // An option of servers that clients have as well: more than was announced is never sent.
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
  // By HTTP/2 there may be a body all the same.
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

/** What an answer says to whom else it may be told. Compat: this server's to say (`corsRemovingTransport`). */
const CORS: ReadonlySet<string> = new Set(
  ["origin", "credentials", "headers", "methods"].map((name) => `access-control-allow-${name}`),
);

/**
 * The headers of an answer that is passed on. Compat: `ReverseProxy` adds them to those of the server, so that what a backend
 * says about caches comes after `no-cache, private`.
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
 * The refusal of an upgrade, as the backend told it. Its connection ends with it, so that nobody can use it for anything else.
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

/** Connects the client with a backend that has changed the protocol. Throws when it is not the one that was asked for. */
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

/** Ends a connection with a backend when the client has gone, however far the request has come. */
export function destroyOnAbort(socket: Duplex, signal: AbortSignal): void {
  const destroy = (): void => void socket.destroy();
  socket.on("error", destroy);
  if (signal.aborted) destroy();
  signal.addEventListener("abort", destroy, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", destroy));
}

/** Copies both ways until one side ends; both are read only as fast as the other takes it. Ends the second one. */
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

/** `done` hears when the end has been written, too. A pipeline of Node would take twice as many listeners. */
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
