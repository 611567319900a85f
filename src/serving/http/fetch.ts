import { buffer } from "node:stream/consumers";
import { requestEntityTooLarge } from "../../base/api/api-error.ts";
import type { ApiRequest, Outcome } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { hold, release } from "./keep-alive.ts";
import type { Answer } from "./listener.ts";
import { parseQuery, parseTarget } from "./target.ts";

/** Handles a request without a socket, with the types of the Fetch standard. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A request to a server in this process. */
export interface SentRequest {
  readonly method: string;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Record<string, string>;
  readonly body: () => Promise<Uint8Array>;
  readonly signal: AbortSignal | undefined;
}

/** Its response. Bodies of watches, logs and large lists are streams. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: EncodedReply["headers"];
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** Reads the whole body of a response. */
export async function readReceived(body: ReceivedResponse["body"]): Promise<Buffer> {
  return typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : buffer(body);
}

/** Sends requests to a server in this process. */
export type Send = (request: SentRequest) => Promise<ReceivedResponse>;

/** A bearer token for requests without an Authorization header, or the user that all requests state. */
export type SenderIdentity = { readonly token: string } | { readonly user: UserInfo };

/** Sends requests that `answer` handles, without a socket. */
export function sendFrom(answer: Answer, identity: SenderIdentity): Send {
  return async (request) => {
    const own = new SocketlessRequest(request, identity);
    request.signal?.addEventListener("abort", () => own.abort(request.signal?.reason), { once: true });
    const { status, headers, body } = await keepingAlive(() => answer(own));
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      return { status, headers, body: finishing(body, status, own) };
    }
    own.finish({ code: status, bytes: body.length });
    return { status, headers, body };
  };
}

/**
 * `fetch` for a server in this process. Paths without a host are resolved against `base`. `Request` and `Response` take
 * almost half of the processor time of a small request: use `sendFrom` where they are not needed.
 */
export function fetchFrom(answer: Answer, base: string, identity: SenderIdentity): Fetch {
  const send = sendFrom(answer, identity);
  return async (input, init) => {
    const request = new Request(typeof input === "string" ? new URL(input, base) : input, init);
    const { status, headers, body } = await send({
      method: request.method,
      url: new URL(request.url),
      headers: Object.fromEntries(request.headers),
      body: async () => new Uint8Array(await request.arrayBuffer()),
      signal: request.signal,
    });
    return new Response(bodyInit(status, body), { status, headers: headersInit(headers) });
  };
}

function headersInit(headers: EncodedReply["headers"]): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}

function bodyInit(status: number, body: ReceivedResponse["body"]): ConstructorParameters<typeof Response>[0] {
  if (typeof body === "string" || body instanceof Uint8Array) return NO_BODY.includes(status) ? null : body;
  return ReadableStream.from(body);
}

/** Responses with these status codes must not have a body. */
const NO_BODY: readonly number[] = [101, 204, 205, 304];

/** Keeps the process alive until `run` is done, as a socket would. */
async function keepingAlive<T>(run: () => Eventually<T>): Promise<T> {
  hold();
  try {
    return await run();
  } finally {
    release();
  }
}

async function* finishing(body: AsyncIterable<Uint8Array>, code: number, request: SocketlessRequest) {
  const chunks = body[Symbol.asyncIterator]();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await keepingAlive(() => chunks.next());
      request.signal.throwIfAborted();
      if (done) break;
      bytes += value.length;
      yield value;
    }
    request.finish({ code, bytes });
  } catch (error) {
    request.finish({ code, bytes, error });
    throw error;
  } finally {
    request.abort();
    request.finish({ code, bytes, error: new Error("the client is gone") });
    await chunks.return?.();
  }
}

class SocketlessRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly authority: string;
  readonly user?: UserInfo;
  readonly remoteAddress = undefined;
  readonly remotePort = undefined;
  readonly certificateChain = [];
  readonly upgrade = "";
  readonly #body: () => Promise<Uint8Array>;
  readonly #controller = new AbortController();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];
  #outcome: Outcome | undefined;

  constructor({ method, url, headers, body }: SentRequest, identity: SenderIdentity) {
    const target = parseTarget(url.pathname + url.search);
    if (target === undefined) throw new TypeError(`${url.href} has malformed percent encoding`);
    this.method = method;
    this.path = target.path;
    this.uri = target.uri;
    this.query = parseQuery(target.rawQuery);
    this.headers = headers;
    if ("user" in identity) this.user = identity.user;
    else this.headers.authorization ??= `Bearer ${identity.token}`;
    this.headers.host ??= url.host;
    this.authority = url.host;
    this.#body = body;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    const bytes = await this.#body();
    if (bytes.length > maxBytes) throw requestEntityTooLarge(`limit is ${maxBytes}`);
    return bytes;
  }

  async *bodyStream(maxBytes: number = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
    yield await this.readBody(maxBytes);
  }

  whenFinished(listener: (outcome: Outcome) => void): void {
    if (this.#outcome) listener(this.#outcome);
    else this.#listeners.push(listener);
  }

  finish(outcome: Outcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    for (const listener of this.#listeners) listener(outcome);
  }
}
