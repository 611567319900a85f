import type { Clock } from "../lib/clock.ts";
import { type BoundedRequest, type ClientTls, type HttpAnswer, HttpClient } from "./http-client.ts";
import type { ServerAccess } from "./kubeconfig-read.ts";

/** How to ask. */
export interface AskOptions extends Pick<BoundedRequest, "timeoutMs" | "maxBytes" | "signal"> {
  /** Added to the URL of the kubeconfig, which may have a path of its own. */
  readonly path?: string;
}

/** Posts JSON to the server of a kubeconfig: webhooks, and ourselves from the command line. */
export class JsonClient {
  readonly #access: ServerAccess;
  readonly #client: HttpClient;

  constructor(access: ServerAccess, clock: Pick<Clock, "setTimer">) {
    this.#access = access;
    this.#client = new HttpClient({ clock });
  }

  /** Resolves with any answer, also a refusal. Rejects when there is none. */
  async post(body: string | Buffer, { path = "", ...limits }: AskOptions): Promise<HttpAnswer> {
    const { server } = this.#access;
    const authorization = await this.#access.authorization();
    const headers = {
      accept: "application/json",
      "content-type": "application/json",
      ...(authorization !== undefined && { authorization }),
    };
    const url = new URL(server);
    if (path !== "") url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
    const tls = tlsOf(this.#access);
    return this.#client.send(url, { ...limits, method: "POST", headers, body, tls, allowsHttp: true });
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#client.close();
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
