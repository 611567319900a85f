import { requestEntityTooLarge } from "../api/api-error.ts";
import type { ApiRequest, Outcome } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { parseQuery, parseTarget } from "../http/target.ts";

/** Answers a request without a socket, in the forms of the Fetch standard. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** `fetch` for a server in this process. `base` is what paths without a host are below. */
export function fetchFrom(answer: (request: ApiRequest) => Promise<EncodedReply>, base: string, token: string): Fetch {
  return async (input, init) => {
    const given = typeof input === "string" ? new URL(input, base) : input;
    const request = new Request(given, init);
    const own = new FetchedRequest(request, token);
    request.signal.addEventListener("abort", () => own.abort(request.signal.reason), { once: true });
    const reply = await answer(own);
    return new Response(bodyOf(reply, own), { status: reply.status, headers: headersOf(reply) });
  };
}

function headersOf({ headers }: EncodedReply): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
}

type ResponseInitBody = ConstructorParameters<typeof Response>[0];

function bodyOf({ status, body }: EncodedReply, request: FetchedRequest): ResponseInitBody {
  if (typeof body === "string" || body instanceof Uint8Array) {
    request.finish({ code: status, bytes: body.length });
    return [101, 204, 205, 304].includes(status) ? null : body;
  }
  return ReadableStream.from(finishing(body, status, request));
}

async function* finishing(body: AsyncIterable<Uint8Array>, code: number, request: FetchedRequest) {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      request.signal.throwIfAborted();
      bytes += chunk.length;
      yield chunk;
    }
    request.signal.throwIfAborted();
    request.finish({ code, bytes });
  } catch (error) {
    request.finish({ code, bytes, error });
    throw error;
  } finally {
    request.abort();
    request.finish({ code, bytes, error: new Error("the client is gone") });
  }
}

class FetchedRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly authority: string;
  readonly remoteAddress = undefined;
  readonly remotePort = undefined;
  readonly certificateChain = [];
  readonly upgrade = "";
  readonly #request: Request;
  readonly #controller = new AbortController();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];
  #outcome: Outcome | undefined;

  constructor(request: Request, token: string) {
    this.#request = request;
    const url = new URL(request.url);
    const target = parseTarget(url.pathname + url.search);
    if (target === undefined) throw new TypeError(`the percent encoding of ${request.url} is broken`);
    this.method = request.method;
    this.path = target.path;
    this.uri = target.uri;
    this.query = parseQuery(target.rawQuery);
    this.headers = Object.fromEntries(request.headers);
    this.headers.authorization ??= `Bearer ${token}`;
    this.headers.host ??= url.host;
    this.authority = url.host;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(await this.#request.arrayBuffer());
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
