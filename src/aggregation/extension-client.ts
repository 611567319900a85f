import type { ClientRequest, IncomingMessage } from "node:http";
import type { Agent, RequestOptions } from "node:https";
import type { UserInfo } from "../api/user-info.ts";
import type { RemoteApi } from "./api-service.ts";
import type { Backend } from "./resolve.ts";

/** The certificate by which extension servers know this server: `--proxy-client-cert-file` and `--proxy-client-key-file`. */
export interface ProxyCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A request to an extension server. */
export interface ExtensionRequest {
  readonly method: string;
  /** Path and query. */
  readonly uri: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly user: UserInfo;
  readonly signal?: AbortSignal;
}

/** So many connections to one server at once. */
const MAX_CONNECTIONS = 1000;

/** Talks to extension servers, by connections that are kept for a while. */
export class ExtensionClient {
  readonly #certificate: ProxyCertificate | undefined;
  #agent: Agent | undefined;

  constructor(certificate: ProxyCertificate | undefined) {
    this.#certificate = certificate;
  }

  /** Begins a request. Whoever calls it writes the body, ends it and listens. */
  async request(api: RemoteApi, { host, port }: Backend, wanted: ExtensionRequest): Promise<ClientRequest> {
    // Imported at first need: see `listen` about what node:http costs a start.
    const { request, Agent } = await import("node:https");
    this.#agent ??= new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS, maxFreeSockets: 16 });
    const { namespace, name } = api.service;
    const options: RequestOptions = {
      host,
      port,
      method: wanted.method,
      path: wanted.uri,
      agent: this.#agent,
      // Compat: the certificate is for `<service>.<namespace>.svc`, and so is the Host header.
      servername: `${name}.${namespace}.svc`,
      rejectUnauthorized: !api.skipsVerification,
      ...(api.authority !== undefined && { ca: api.authority }),
      ...this.#certificate,
      headers: { ...wanted.headers, ...userHeaders(wanted.user) },
      ...(wanted.signal && { signal: wanted.signal }),
    };
    return request(options);
  }

  /** Asks for a document. Rejects with Go's words for what went wrong, or when it is longer than `maxBytes`. */
  async get(
    api: RemoteApi,
    backend: Backend,
    wanted: Omit<ExtensionRequest, "method"> & { readonly maxBytes: number; readonly timeoutMs: number },
  ): Promise<{ readonly status: number; readonly body: Buffer }> {
    const { maxBytes, timeoutMs, signal } = wanted;
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const call = await this.request(api, backend, { ...wanted, method: "GET", signal: limit });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    call.on("response", resolve);
    call.on("error", reject);
    call.end();
    const response = await promise.catch((error: unknown) => {
      throw new Error(transportError(error, backend), { cause: error });
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
  }

  close(): void {
    this.#agent?.destroy();
  }
}

/** Who asks, for servers that believe us. Node writes the bytes of these texts as they are. */
function userHeaders({ name, uid = "", groups = [], extra = {} }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "X-Remote-User": utf8(name) };
  if (uid !== "") headers["X-Remote-Uid"] = utf8(uid);
  if (groups.length > 0) headers["X-Remote-Group"] = groups.map(utf8);
  for (const [key, values] of Object.entries(extra)) headers[`X-Remote-Extra-${escapeKey(key)}`] = values.map(utf8);
  return headers;
}

const utf8 = (text: string): string => Buffer.from(text.replace(/[\r\n\0]/g, " ")).toString("latin1");

/** Compat: `headerKeyEscape` percent-encodes what no name of a header may have, and the percent sign. */
function escapeKey(key: string): string {
  return key.replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** What Go's dialer says of an error. */
export function transportError(error: unknown, { host, port }: Backend): string {
  const { code, message, address, errors } = error as NodeJS.ErrnoException & {
    address?: string;
    errors?: NodeJS.ErrnoException[];
  };
  const place = address ?? (errors?.at(-1) as { address?: string } | undefined)?.address ?? host;
  const printed = place.includes(":") ? `[${place}]:${port}` : `${place}:${port}`;
  if (code === "ECONNREFUSED") return `dial tcp ${printed}: connect: connection refused`;
  if (code === "ENOTFOUND") return `dial tcp: lookup ${host}: no such host`;
  if (code === "ABORT_ERR" || code === "ETIMEDOUT") return "context deadline exceeded";
  return message || String(code ?? "EOF");
}
