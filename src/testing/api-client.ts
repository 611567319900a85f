import type { Fetch } from "./fetch.ts";

// biome-ignore lint/suspicious/noExplicitAny: its type belongs to a package that this one does not know
type Configuration = any;

/** A class of `@kubernetes/client-node`, such as CoreV1Api. */
export type ApiConstructor<Api> = new (configuration: Configuration) => Api;

/** An object of such a class that asks by `fetch`, without a socket. */
export function apiClient<Api>(Api: ApiConstructor<Api>, fetch: Fetch, url: string, userAgent: string): Api {
  const configuration = {
    baseServer: { makeRequestContext: (path: string, method: string) => new RequestContext(url + path, method) },
    httpApi: { send: (request: RequestContext) => later(send(fetch, request, userAgent)) },
    middleware: [],
    authMethods: {},
  };
  return new Api(configuration);
}

/** What the client's generated code takes for an Observable. */
interface Later<T> {
  toPromise(): Promise<T>;
  pipe<U>(next: (value: T) => U | PromiseLike<U>): Later<U>;
}

function later<T>(promise: Promise<T>): Later<T> {
  return { toPromise: () => promise, pipe: (next) => later(promise.then(next)) };
}

async function send(fetch: Fetch, request: RequestContext, userAgent: string) {
  const headers = { "user-agent": userAgent, ...request.getHeaders() };
  const method = request.getHttpMethod();
  const body = request.getBody();
  const signal = request.getSignal();
  const response = await fetch(request.getUrl(), {
    method,
    headers,
    ...(body ? { body } : {}),
    ...(signal ? { signal } : {}),
  });
  const text = () => response.text();
  const received = {
    httpStatusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: { text, binary: async () => Buffer.from(await response.arrayBuffer()), stream: () => response.body },
    getBodyAsAny: text,
  };
  return received;
}

/** A request as the client's generated code puts it together. */
class RequestContext {
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
