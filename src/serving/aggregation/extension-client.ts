import type { ClientRequest } from "node:http";
import type { UserInfo } from "../../base/api/user-info.ts";
import { type BoundedRequest, type HttpAnswer, HttpClient, type OutgoingRequest } from "../../base/net/http-client.ts";
import type { Backend } from "../../base/net/service-backend.ts";
import { transportError } from "../../base/net/transport-error.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { RemoteApi } from "./api-service.ts";

/** The client certificate for extension servers: `--proxy-client-cert-file` and `--proxy-client-key-file`. */
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

/** Maximum number of concurrent connections to one server. */
const MAX_CONNECTIONS = 1000;

/** HTTP client for extension servers, with connection reuse. */
export class ExtensionClient {
  readonly #certificate: () => ProxyCertificate | undefined;
  readonly #client: HttpClient;

  constructor(clock: Pick<Clock, "setTimer">, certificate: () => ProxyCertificate | undefined) {
    this.#certificate = certificate;
    this.#client = new HttpClient({ clock, maxConnections: MAX_CONNECTIONS });
  }

  /** Opens a request. The caller writes and ends the body, and handles the response. */
  request(api: RemoteApi, backend: Backend, wanted: ExtensionRequest): Promise<ClientRequest> {
    return this.#client.open({ ...backend, path: wanted.uri }, this.#requestTo(api, wanted));
  }

  /** Fetches a document. Rejects with an error in Go's wording, also if the body exceeds `maxBytes`. */
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

  #requestTo({ service, ca, skipsVerification }: RemoteApi, wanted: ExtensionRequest): OutgoingRequest {
    const { method, headers, user, signal } = wanted;
    const tls = {
      // Compat: the certificate and the Host header are for `<service>.<namespace>.svc`.
      servername: `${service.name}.${service.namespace}.svc`,
      rejectUnauthorized: !skipsVerification,
      ...(ca !== undefined && { ca }),
      ...this.#certificate(),
    };
    return { method, tls, headers: { ...headers, ...userHeaders(user) }, ...(signal && { signal }) };
  }
}

/** X-Remote-* headers for the user. Values are UTF-8 as latin1 strings, because Node writes them byte by byte. */
function userHeaders({ name, uid = "", groups = [], extra = {} }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "X-Remote-User": utf8(name) };
  if (uid !== "") headers["X-Remote-Uid"] = utf8(uid);
  if (groups.length > 0) headers["X-Remote-Group"] = groups.map(utf8);
  for (const [key, values] of Object.entries(extra)) headers[`X-Remote-Extra-${escapeKey(key)}`] = values.map(utf8);
  return headers;
}

const utf8 = (text: string): string => Buffer.from(text.replace(/[\r\n\0]/g, " ")).toString("latin1");

/** Compat: `headerKeyEscape` percent-encodes characters that are invalid in header names, and the percent sign. */
function escapeKey(key: string): string {
  return key.replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}
