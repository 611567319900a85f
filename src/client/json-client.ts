import { isObject, type Json, type JsonObject } from "../api/object.ts";
import type { Clock } from "../lib/clock.ts";
import { type BoundedRequest, type ClientTls, type HttpAnswer, HttpClient } from "./http-client.ts";
import type { ServerAccess } from "./kubeconfig-read.ts";

/** How to ask. */
export interface AskOptions extends Pick<BoundedRequest, "timeoutMs" | "maxBytes" | "signal"> {
  /** Added to the URL of the kubeconfig, which may have a path of its own. */
  readonly path?: string;
}

/** What to ask besides posting JSON. */
export interface OtherQuestion extends Omit<AskOptions, "path"> {
  readonly method: string;
  /** With a query, if there is one. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

/** The JSON object that an answer is; an empty one for whatever else a body may be. */
export function objectIn(body: Buffer): JsonObject {
  try {
    const value: Json = JSON.parse(body.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Why a server refused: the message of its Status, or its code when it sent none. */
export function refusalIn({ status, body }: Pick<HttpAnswer, "status" | "body">): string {
  const { message } = objectIn(body);
  return typeof message === "string" ? message : `the server answered ${status}`;
}

/** Posts JSON to the server of a kubeconfig: webhooks, and ourselves from the command line. */
export class JsonClient implements Disposable {
  readonly #access: ServerAccess;
  readonly #client: HttpClient;

  constructor(access: ServerAccess, clock: Pick<Clock, "setTimer">) {
    this.#access = access;
    this.#client = new HttpClient({ clock });
  }

  /** Resolves with any answer, also a refusal. Rejects when there is none. */
  async post(body: string | Buffer, { path = "", ...limits }: AskOptions): Promise<HttpAnswer> {
    return this.#send(path, body, "application/json", { ...limits, method: "POST" });
  }

  /** Asks in any other way. Resolves and rejects as `post` does. */
  async ask({ path, body, contentType, ...limits }: OtherQuestion): Promise<HttpAnswer> {
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

  /** Ends the connections that are kept. */
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
