import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Agent, RequestOptions } from "node:https";
import { urlToHttpOptions } from "node:url";
import type { Clock } from "../util/clock.ts";
import { DeadlineExceeded, DialTimeout } from "./transport-error.ts";

/** TLS options: the CAs, the server name, and the client certificate. */
export type ClientTls = Pick<RequestOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;

/** The target of a request. `path`, including the query, is sent unchanged. */
export interface Target {
  /** Default: "https:". */
  readonly protocol?: "http:" | "https:";
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** A request to another server. */
export interface OutgoingRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly tls?: ClientTls;
  readonly signal?: AbortSignal;
  /** Whether HTTP without TLS is allowed. Default: false. */
  readonly allowsHttp?: boolean;
  /** Whether the headers are forwarded from another client. If true, Node adds no headers. */
  readonly isPassedOn?: boolean;
}

/** A request whose response is read completely. */
export interface BoundedRequest extends OutgoingRequest {
  readonly body?: string | Uint8Array;
  /** Time limit for the whole request, up to the last byte of the response. */
  readonly timeoutMs: number;
  /** Maximum size of the response body. */
  readonly maxBytes: number;
  /** Maximum number of redirects to follow. Default: 0. */
  readonly maxRedirects?: number;
}

/** A response with its body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Options of an HTTP client. */
export interface HttpClientOptions {
  readonly clock: Pick<Clock, "setTimer">;
  /** Maximum number of connections per server. Further requests wait. Default: 32. */
  readonly maxConnections?: number;
  /** Maximum number of idle connections per server. 0: every request uses a new connection. Default: 16. */
  readonly keptConnections?: number;
  /** Time limit for establishing a connection, including TLS. Optional. If omitted, the operating system decides. */
  readonly dialTimeoutMs?: number;
}

const MAX_CONNECTIONS = 32;
const KEPT_CONNECTIONS = 16;
/** Compat: `IdleConnTimeout` of client-go's transports. */
const IDLE_MS = 90_000;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * An HTTP/1.1 client for other servers: webhooks, token issuers, extension servers. Idle connections are kept for 90 s
 * and reused only with the same CAs, server name and client certificate.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Opens a request. The caller writes the body, ends it and listens for the response. */
  async open(target: URL | Target, request: OutgoingRequest): Promise<ClientRequest> {
    const { method = "GET", headers = {}, tls, signal, allowsHttp = false, isPassedOn = false } = request;
    const place = target instanceof URL ? urlToHttpOptions(target) : { protocol: "https:", ...target };
    const scheme = place.protocol ?? "";
    const isPlain = scheme === "http:" && allowsHttp;
    if (!isPlain && scheme !== "https:") throw new Error(`unsupported protocol scheme "${scheme.slice(0, -1)}"`);
    // Imported on first use: see `listen` about the cost of node:http at startup.
    const { request: begin, Agent } = isPlain ? await import("node:http") : await import("node:https");
    const { maxConnections: maxSockets = MAX_CONNECTIONS, keptConnections = KEPT_CONNECTIONS } = this.#options;
    const limits = { keepAlive: true, maxSockets, maxFreeSockets: keptConnections, timeout: IDLE_MS };
    const agent = this.#agents.get(scheme) ?? (new Agent(limits) as Agent);
    this.#agents.set(scheme, agent);
    // Compat: Go's x509 trusts every certificate of a caBundle, even if it is not a CA, such as the server's own
    // certificate.
    const trust = { allowPartialTrustChain: true };
    const options = { ...place, ...trust, ...tls, method, headers, agent, setDefaultHeaders: !isPassedOn };
    const call = begin({ ...options, ...(signal && { signal }) });
    this.#limitDial(call, isPlain ? "connect" : "secureConnect");
    return call;
  }

  #limitDial(call: ClientRequest, connected: "connect" | "secureConnect"): void {
    const { dialTimeoutMs, clock } = this.#options;
    if (dialTimeoutMs === undefined) return;
    call.once("socket", (socket) => {
      if (!socket.connecting) return;
      const timer = clock.setTimer(dialTimeoutMs, () => call.destroy(new DialTimeout()));
      const stop = (): void => void timer.close();
      socket.once(connected, stop).once("close", stop);
    });
  }

  /**
   * Sends a request and reads the response, whatever its status. Rejects on a timeout or if the body is too large.
   * `transportError` returns Go's message for the error.
   */
  async send(url: URL | Target, request: BoundedRequest): Promise<HttpAnswer> {
    const { timeoutMs, signal } = request;
    const late = new AbortController();
    const timer = this.#options.clock.setTimer(timeoutMs, () => late.abort(new DeadlineExceeded()));
    const limit = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    try {
      return await this.#follow(url, { ...request, signal: limit }, request.maxRedirects ?? 0);
    } catch (error) {
      throw limit.aborted ? limit.reason : error;
    } finally {
      timer.close();
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #follow(url: URL | Target, request: BoundedRequest, redirects: number): Promise<HttpAnswer> {
    const response = await this.#begin(url, request);
    const { statusCode: status = 0, headers } = response;
    const { location } = headers;
    if (redirects > 0 && url instanceof URL && REDIRECTS.includes(status) && location !== undefined) {
      response.destroy();
      return this.#follow(new URL(location, url), request, redirects - 1);
    }
    return { status, headers, body: await readBody(response, request.maxBytes) };
  }

  async #begin(url: URL | Target, request: BoundedRequest): Promise<IncomingMessage> {
    const { body, signal } = request;
    const headers = {
      "user-agent": "binnacle",
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
      ...request.headers,
    };
    for (;;) {
      const call = await this.open(url, { ...request, headers });
      try {
        return await responseTo(call, body);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // The server closed an idle connection just as it was reused: retry on another one.
        const wasKept = call.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
        if (!wasKept || signal?.aborted) throw error;
      }
    }
  }
}

function responseTo(call: ClientRequest, body: BoundedRequest["body"]): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  call.on("response", resolve);
  call.on("error", reject);
  call.end(body);
  return promise;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
