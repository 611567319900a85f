import type { ClientRequest } from "node:http";
import type { UserInfo } from "../api/user-info.ts";
import { type BoundedRequest, type HttpAnswer, HttpClient, type OutgoingRequest } from "../client/http-client.ts";
import { transportError } from "../client/transport-error.ts";
import type { Clock } from "../lib/clock.ts";
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
  readonly #certificate: () => ProxyCertificate | undefined;
  readonly #client: HttpClient;

  constructor(clock: Pick<Clock, "setTimer">, certificate: () => ProxyCertificate | undefined) {
    this.#certificate = certificate;
    this.#client = new HttpClient({ clock, maxConnections: MAX_CONNECTIONS });
  }

  /** Begins a request. Whoever calls it writes the body, ends it and listens. */
  request(api: RemoteApi, backend: Backend, wanted: ExtensionRequest): Promise<ClientRequest> {
    return this.#client.open({ ...backend, path: wanted.uri }, this.#requestTo(api, wanted));
  }

  /** Asks for a document. Rejects with Go's words for what went wrong, or when it is longer than `maxBytes`. */
  async get(
    api: RemoteApi,
    backend: Backend,
    wanted: Omit<ExtensionRequest, "method"> & Pick<BoundedRequest, "maxBytes" | "timeoutMs">,
  ): Promise<HttpAnswer> {
    const { maxBytes, timeoutMs } = wanted;
    const request = { ...this.#requestTo(api, { ...wanted, method: "GET" }), maxBytes, timeoutMs };
    try {
      return await this.#client.send({ ...backend, path: wanted.uri }, request);
    } catch (error) {
      throw new Error(transportError(error), { cause: error });
    }
  }

  close(): void {
    this.#client.close();
  }

  #requestTo({ service, authority, skipsVerification }: RemoteApi, wanted: ExtensionRequest): OutgoingRequest {
    const { method, headers, user, signal } = wanted;
    const tls = {
      // Compat: the certificate is for `<service>.<namespace>.svc`, and so is the Host header.
      servername: `${service.name}.${service.namespace}.svc`,
      rejectUnauthorized: !skipsVerification,
      ...(authority !== undefined && { ca: authority }),
      ...this.#certificate(),
    };
    return { method, tls, headers: { ...headers, ...userHeaders(user) }, ...(signal && { signal }) };
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
