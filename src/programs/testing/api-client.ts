import { type ReceivedResponse, readReceived, type Send } from "../../serving/http/fetch.ts";

// biome-ignore lint/suspicious/noExplicitAny: the type belongs to a package that is not a dependency
type Configuration = any;

/** A class of `@kubernetes/client-node`, such as CoreV1Api. */
export type ApiConstructor<Api> = new (configuration: Configuration) => Api;

/** An instance of such a class that sends requests without a socket. */
export function apiClient<Api>(Api: ApiConstructor<Api>, send: Send, url: string, userAgent: string): Api {
  const configuration = {
    baseServer: { makeRequestContext: (path: string, method: string) => new RequestContext(url + path, method) },
    httpApi: httpApi(send, userAgent),
    middleware: [],
    authMethods: {},
  };
  return new Api(configuration);
}

/** The `HttpLibrary` of a client's configuration. `userAgent` is the User-Agent of requests that have none. */
export function httpApi(send: Send, userAgent: string): { send(request: ClientRequest): Later<object> } {
  return { send: (request: ClientRequest) => later(sendBy(send, request, userAgent)) };
}

/** The Observable interface that the client's generated code uses. */
interface Later<T> {
  toPromise(): Promise<T>;
  pipe<U>(next: (value: T) => U | PromiseLike<U>): Later<U>;
}

function later<T>(promise: Promise<T>): Later<T> {
  return { toPromise: () => promise, pipe: (next) => later(promise.then(next)) };
}

async function sendBy(send: Send, request: ClientRequest, userAgent: string) {
  const given = Object.entries(request.getHeaders()).map(([name, value]) => [name.toLowerCase(), value]);
  const { status, headers, body } = await send({
    method: request.getHttpMethod(),
    url: new URL(request.getUrl()),
    headers: { "user-agent": userAgent, ...Object.fromEntries(given) },
    body: async () => Buffer.from(request.getBody() ?? ""),
    signal: request.getSignal(),
  });
  const text = async () => (await readReceived(body)).toString();
  return {
    httpStatusCode: status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: { text, binary: () => readReceived(body), stream: () => streamOf(body) },
    getBodyAsAny: text,
  };
}

const streamOf = (body: ReceivedResponse["body"]): ReadableStream =>
  ReadableStream.from(typeof body === "string" || body instanceof Uint8Array ? [Buffer.from(body)] : body);

/** A request as the client sends it. */
interface ClientRequest {
  getUrl(): string;
  getHttpMethod(): string;
  getHeaders(): Record<string, string>;
  getBody(): string | undefined;
  getSignal(): AbortSignal | undefined;
}

/** The request that the client's generated code fills in. */
class RequestContext implements ClientRequest {
  readonly #url: URL;
  readonly #method: string;
  readonly #headers: Record<string, string> = {};
  #body: string | undefined;
  #signal: AbortSignal | undefined;

  constructor(url: string, method: string) {
    this.#url = new URL(url);
    this.#method = method;
  }

  getUrl(): string {
    return this.#url.href;
  }
  getHttpMethod(): string {
    return this.#method;
  }
  getHeaders(): Record<string, string> {
    return this.#headers;
  }
  getBody(): string | undefined {
    return this.#body;
  }
  getSignal(): AbortSignal | undefined {
    return this.#signal;
  }
  setBody(body: string | undefined): void {
    this.#body = body;
  }
  setSignal(signal: AbortSignal): void {
    this.#signal = signal;
  }
  setQueryParam(name: string, value: string): void {
    this.#url.searchParams.set(name, value);
  }
  appendQueryParam(name: string, value: string): void {
    this.#url.searchParams.append(name, value);
  }
  setHeaderParam(name: string, value: string): void {
    this.#headers[name.toLowerCase()] = value;
  }
}
