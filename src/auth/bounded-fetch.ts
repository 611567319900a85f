import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import type { Clock } from "../lib/clock.ts";

/** What to ask another server for, and how much of it to take. */
export interface FetchRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Authorities, a client certificate, and the like. */
  readonly tls?: Pick<RequestOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;
  /** From the beginning to the last byte. */
  readonly timeoutMs: number;
  /** A longer body is refused. */
  readonly maxBytes: number;
  /** How many redirects are followed. */
  readonly maxRedirects?: number;
  /** Whether HTTP without TLS is allowed, too. */
  readonly allowsHttp?: boolean;
}

/** An answer with its whole body. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks another server once. Rejects when it does not answer in time, with too much, or not at all. */
export type BoundedFetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

/** Asks by HTTP/1.1 over TLS; time is taken from the clock. */
export function boundedFetch(clock: Pick<Clock, "setTimer">): BoundedFetch {
  return async (url, request) => {
    const controller = new AbortController();
    const { timeoutMs } = request;
    const timer = clock.setTimer(timeoutMs, () => controller.abort(new Error(`no answer within ${timeoutMs} ms`)));
    try {
      return await follow(new URL(url), request, controller.signal, request.maxRedirects ?? 0);
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      timer.close();
    }
  };
}

async function follow(url: URL, request: FetchRequest, signal: AbortSignal, redirects: number): Promise<FetchAnswer> {
  const response = await send(url, request, signal);
  const { statusCode: status = 0, headers } = response;
  const { location } = headers;
  if (redirects > 0 && [301, 302, 303, 307, 308].includes(status) && location !== undefined) {
    response.destroy();
    return follow(new URL(location, url), request, signal, redirects - 1);
  }
  return { status, headers, body: await readAll(response, request.maxBytes) };
}

async function send(url: URL, request: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const isHttp = url.protocol === "http:" && request.allowsHttp === true;
  if (!isHttp && url.protocol !== "https:")
    throw new Error(`unsupported protocol scheme "${url.protocol.slice(0, -1)}"`);
  // Loaded when it is needed first: Node takes its time to load its HTTP client.
  const { request: open } = isHttp ? await import("node:http") : await import("node:https");
  const { method = "GET", headers, body, tls } = request;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { "user-agent": "binnacle", ...headers }, signal, agent: false, ...tls };
    const outgoing = open(url, options, resolve);
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
