import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import type { ServerAccess } from "./kubeconfig-read.ts";

/** What a server answered. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How to ask. */
export interface AskOptions {
  /** Added to the URL of the kubeconfig, which may have a path of its own. */
  readonly path?: string;
  readonly timeoutMs: number;
  /** Longer answers are an error. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** Posts JSON to other servers: webhooks, and ourselves from the command line. Connections are kept for a while. */
export class JsonClient {
  readonly #access: ServerAccess;
  #agent: { destroy(): void } | undefined;

  constructor(access: ServerAccess) {
    this.#access = access;
  }

  /** Resolves with any answer, also a refusal. Rejects when there is none. */
  async post(body: string | Buffer, { path = "", timeoutMs, maxBytes, signal }: AskOptions): Promise<JsonAnswer> {
    const { server, authority, skipsVerification, serverName, certificate, key } = this.#access;
    const isSecure = server.protocol === "https:";
    // Imported at first need: see `listen` about what node:http costs a start.
    const { request, Agent } = isSecure ? await import("node:https") : await import("node:http");
    this.#agent ??= new Agent({ keepAlive: true, maxSockets: 32, timeout: timeoutMs });
    const authorization = await this.#access.authorization();
    const options: RequestOptions = {
      method: "POST",
      agent: this.#agent as never,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(authorization !== undefined && { authorization }),
      },
      ...(isSecure && {
        rejectUnauthorized: !skipsVerification,
        ...(authority !== undefined && { ca: authority }),
        ...(serverName !== undefined && { servername: serverName }),
        ...(certificate !== undefined && { cert: certificate, key }),
      }),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    };
    const url = new URL(server);
    if (path !== "") url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonAnswer>();
    const call = request(url, options, (response) => {
      readAnswer(response, maxBytes).then(resolve, reject);
    });
    call.on("error", reject);
    call.end(body);
    return promise;
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<JsonAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      response.destroy();
      throw new Error(`the answer is longer than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: Buffer.concat(chunks) };
}
