import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Agent, RequestOptions } from "node:https";
import { urlToHttpOptions } from "node:url";
import type { Clock } from "../lib/clock.ts";
import { DeadlineExceeded, DialTimeout } from "./transport-error.ts";

/** Which authorities a server is checked by, under which name, and which certificate it is shown. */
export type ClientTls = Pick<RequestOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;

/** Where a request goes; `path`, with its query, goes out as it is. */
export interface Target {
  /** TLS unless told. */
  readonly protocol?: "http:" | "https:";
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** A request to another server. */
export interface OutgoingRequest {
  /** GET unless told. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly tls?: ClientTls;
  readonly signal?: AbortSignal;
  /** Whether HTTP without TLS is allowed, too. */
  readonly allowsHttp?: boolean;
  /** Node adds nothing to the headers: what they say is another client's to say. */
  readonly isPassedOn?: boolean;
}

/** A request whose whole answer is wanted. */
export interface BoundedRequest extends OutgoingRequest {
  readonly body?: string | Uint8Array;
  /** From the beginning to the last byte of the answer. */
  readonly timeoutMs: number;
  /** A longer body is refused. */
  readonly maxBytes: number;
  /** How many redirects are followed: none unless told. */
  readonly maxRedirects?: number;
}

/** An answer with its whole body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How a client asks. */
export interface HttpClientOptions {
  readonly clock: Pick<Clock, "setTimer">;
  /** So many connections to one server at once; further requests wait for them. */
  readonly maxConnections?: number;
  /** So many of them are kept without a request. 0: every request has a connection of its own. */
  readonly keptConnections?: number;
  /** How long making a connection may take, with TLS. Absent: as long as the system tries. */
  readonly dialTimeoutMs?: number;
}

const MAX_CONNECTIONS = 32;
const KEPT_CONNECTIONS = 16;
/** Compat: `IdleConnTimeout` of client-go's transports. */
const IDLE_MS = 90_000;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Asks other servers by HTTP/1.1: webhooks, issuers of tokens, extension servers. Connections are kept for a while, and
 * used again only with the same authorities, name and client certificate.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Begins a request. Whoever calls this writes the body, ends it and listens. */
  async open(target: URL | Target, request: OutgoingRequest): Promise<ClientRequest> {
    const { method = "GET", headers = {}, tls, signal, allowsHttp = false, isPassedOn = false } = request;
    const place = target instanceof URL ? urlToHttpOptions(target) : { protocol: "https:", ...target };
    const scheme = place.protocol ?? "";
    const isPlain = scheme === "http:" && allowsHttp;
    if (!isPlain && scheme !== "https:") throw new Error(`unsupported protocol scheme "${scheme.slice(0, -1)}"`);
    // Imported at first need: see `listen` about what node:http costs a start.
    const { request: begin, Agent } = isPlain ? await import("node:http") : await import("node:https");
    const { maxConnections: maxSockets = MAX_CONNECTIONS, keptConnections = KEPT_CONNECTIONS } = this.#options;
    const limits = { keepAlive: true, maxSockets, maxFreeSockets: keptConnections, timeout: IDLE_MS };
    const agent = this.#agents.get(scheme) ?? (new Agent(limits) as Agent);
    this.#agents.set(scheme, agent);
    // Compat: Go's x509 believes every certificate of a caBundle, also one that is no authority: the server's own, for one.
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
   * Sends a request and reads the answer, of whatever status. Rejects when there is none in time, or too much of it;
   * `transportError` has Go's words for why.
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

  /** Ends the connections. */
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
        // The server closed a connection that had been kept, just as it was used again: another one is taken.
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
    if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
