import type { ResolveService } from "../../aggregation/resolve.ts";
import type { Json } from "../../api/object.ts";
import { type ClientTls, HttpClient } from "../../client/http-client.ts";
import type { UserAccess } from "../../client/kubeconfig-read.ts";
import { serverResponse } from "../../client/server-response.ts";
import { transportError } from "../../client/transport-error.ts";
import { decodeJson } from "../../encoding/json/json.ts";
import { decodeYaml } from "../../encoding/yaml/yaml.ts";
import type { Clock } from "../../lib/clock.ts";
import { quote } from "../../lib/go/quote.ts";
import { cleanPath } from "../../lib/go/url-escape.ts";

/** `clientConfig` of a webhook. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

/** One call of a webhook. */
export interface WebhookRequest {
  readonly config: WebhookClientConfig;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** By which the webhook knows this server. Absent: it is shown nothing. */
  readonly credentials?: WebhookCredentials | undefined;
}

/** Why a webhook has not answered with JSON. `code` is that of its answer, or 503. */
export class WebhookFailure extends Error {
  readonly code: number;

  constructor(message: string, code = 503) {
    super(message);
    this.code = code;
  }
}

/** By which certificate or token a webhook at a host knows this server. Undefined: it is shown none. */
export type WebhookCredentials = (host: string, port: number) => UserAccess | undefined;

const MAX_BYTES = 32 * 1024 * 1024;
/** Not a limit for webhooks that answer: those that hang must not keep others at the same place from being called. */
const MAX_CONNECTIONS = 1000;
const SECURE_PORT = 443;

interface Place {
  readonly url: URL;
  /** By which credentials are chosen. */
  readonly host: string;
  readonly serverName?: string;
}

/** Whoever posts to webhooks. */
export type WebhookPoster = Pick<WebhookClient, "post">;

/** What a client of webhooks needs. */
export interface WebhookClientOptions {
  readonly clock: Clock;
  readonly resolve: ResolveService;
  /** Nobody is called: every call fails. */
  readonly isOffline?: boolean | undefined;
}

/** Calls webhooks: at a URL, or where a Service answers, whose certificate is for `<name>.<namespace>.svc`. */
export class WebhookClient {
  readonly #resolve: ResolveService;
  readonly #client: HttpClient;
  readonly #isOffline: boolean;

  constructor({ clock, resolve, isOffline = false }: WebhookClientOptions) {
    this.#resolve = resolve;
    this.#isOffline = isOffline;
    this.#client = new HttpClient({ clock, maxConnections: MAX_CONNECTIONS });
  }

  /** Posts JSON, and answers with the JSON that comes back. Throws WebhookFailure in the words of upstream's client. */
  async post({ config, body, timeoutMs, signal, credentials }: WebhookRequest): Promise<Json> {
    const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`;
    const shown = `Post ${quote(`${shownUrl(config)}${query}`)}`;
    if (this.#isOffline) throw new WebhookFailure(`${shown}: no webhook is called here`);
    try {
      const { url, host, serverName } = await this.#placeOf(config, query);
      const port = config.service ? (config.service.port ?? SECURE_PORT) : Number(url.port) || SECURE_PORT;
      const access = credentials?.(host, port);
      const authorization = await access?.authorization();
      const answer = await this.#client.send(url, {
        method: "POST",
        headers: {
          accept: "application/json, */*",
          "content-type": "application/json",
          ...(authorization !== undefined && { authorization }),
          // Compat: `resolvingRoundTripper` keeps the name of the Service.
          ...(serverName !== undefined && { host: `${serverName}:${port}` }),
        },
        body,
        tls: tlsOf(config, access, serverName),
        timeoutMs,
        maxBytes: MAX_BYTES,
        ...(signal && { signal }),
      });
      return readAnswer(answer);
    } catch (error) {
      throw error instanceof WebhookFailure ? error : new WebhookFailure(`${shown}: ${transportError(error)}`);
    }
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#client.close();
  }

  async #placeOf({ url = "", service }: WebhookClientConfig, query: string): Promise<Place> {
    if (!service) {
      const target = new URL(url);
      target.pathname = pathOf(target.pathname);
      target.search = query;
      return { url: target, host: target.hostname };
    }
    const { name = "", namespace = "", path = "", port = SECURE_PORT } = service;
    const backend = await this.#resolve({ name, namespace, port });
    const serverName = `${name}.${namespace}.svc`;
    const at = backend.host.includes(":") ? `[${backend.host}]` : backend.host;
    const target = new URL(`https://${at}:${backend.port}`);
    target.pathname = pathOf(path);
    target.search = query;
    return { url: target, host: serverName, serverName };
  }
}

function shownUrl({ url = "", service }: WebhookClientConfig): string {
  if (!service) {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathOf(pathname)}`;
  }
  const { name = "", namespace = "", path = "", port = SECURE_PORT } = service;
  return `https://${name}.${namespace}.svc:${port}${pathOf(path)}`;
}

/** Compat: `path.Join` of the client makes /a of //a/, which envtest writes. */
const pathOf = (path: string): string => cleanPath(`/${path}`);

/** Without a caBundle the authorities of the system count. */
function tlsOf(
  { caBundle = "" }: WebhookClientConfig,
  access: UserAccess | undefined,
  serverName: string | undefined,
): ClientTls {
  const ca = Buffer.from(caBundle, "base64").toString().trim();
  return {
    ...(ca !== "" && { ca }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(access?.certificate !== undefined && { cert: access.certificate, key: access.key }),
  };
}

function readAnswer(answer: Parameters<typeof serverResponse>[0]): Json {
  const { status, headers, body } = answer;
  const refusal = serverResponse(answer);
  if (refusal) throw new WebhookFailure(refusal.message, refusal.code);
  if (body.length === 0) {
    const type = headers["content-type"] ?? "application/json";
    throw new WebhookFailure(`0-length response with status code: ${status} and content type: ${type}`);
  }
  const isJson = body.find((byte) => byte > 0x20) === 0x7b;
  try {
    return isJson ? decodeJson(body).value : decodeYaml(body).value;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new WebhookFailure(`couldn't get version/kind; json parse error: ${text}`);
  }
}
