import { isObject, type Json, type JsonObject } from "../api/object.ts";
import type { Clock } from "../util/clock.ts";
import { parseJsonText } from "../util/parse-json.ts";
import { type BoundedRequest, type ClientTls, type HttpAnswer, HttpClient } from "./http-client.ts";
import type { ServerAccess } from "./server-access.ts";

/** Options of a POST request. */
export interface PostOptions extends Pick<BoundedRequest, "timeoutMs" | "maxBytes" | "signal"> {
  /** Appended to the server URL of the kubeconfig, which may have a path of its own. */
  readonly path?: string;
}

/** A request other than a POST of JSON. */
export interface RequestOptions extends Omit<PostOptions, "path"> {
  readonly method: string;
  /** May include a query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

/** The JSON object in a response body. Empty if the body is anything else. */
export function objectIn(body: Buffer): JsonObject {
  try {
    const value: Json = parseJsonText(body.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The error message of a response: that of its Status, or its status code. */
export function refusalIn({ status, body }: Pick<HttpAnswer, "status" | "body">): string {
  const { message } = objectIn(body);
  return typeof message === "string" ? message : `the server responded with status ${status}`;
}

/** Sends JSON to the server of a kubeconfig: to webhooks, and to Binnacle from the command line. */
export class JsonClient implements Disposable {
  readonly #access: ServerAccess;
  readonly #client: HttpClient;

  constructor(access: ServerAccess, clock: Pick<Clock, "setTimer">) {
    this.#access = access;
    this.#client = new HttpClient({ clock });
  }

  /** Resolves with any response, also an error status. Rejects if there is no response. */
  async post(body: string | Buffer, { path = "", ...limits }: PostOptions): Promise<HttpAnswer> {
    return this.#send(path, body, "application/json", { ...limits, method: "POST" });
  }

  /** Sends any other request. Resolves and rejects like `post`. */
  async ask({ path, body, contentType, ...limits }: RequestOptions): Promise<HttpAnswer> {
    return this.#send(path, body, contentType, limits);
  }

  async #send(
    path: string,
    body: string | Buffer | undefined,
    contentType: string | undefined,
    limits: Pick<BoundedRequest, "method" | "timeoutMs" | "maxBytes" | "signal">,
  ): Promise<HttpAnswer> {
    const { server } = this.#access;
    const authorization = await this.#access.authorization();
    const headers = {
      accept: "application/json",
      ...(contentType !== undefined && { "content-type": contentType }),
      ...(authorization !== undefined && { authorization }),
    };
    const url = new URL(server);
    const [pathname = "", query] = path.split("?");
    if (pathname !== "") url.pathname = `${url.pathname.replace(/\/$/, "")}${pathname}`;
    if (query !== undefined) url.search = query;
    const tls = tlsOf(this.#access);
    return this.#client.send(url, { ...limits, headers, body, tls, allowsHttp: true });
  }

  /** Closes idle connections. */
  close(): void {
    this.#client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function tlsOf({ skipsVerification, authority, serverName, certificate, key }: ServerAccess): ClientTls {
  return {
    rejectUnauthorized: !skipsVerification,
    ...(authority !== undefined && { ca: authority }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(certificate !== undefined && { cert: certificate, key }),
  };
}
