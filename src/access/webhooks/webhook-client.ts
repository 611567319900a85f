import { type AnswerLimits, INLINE_LIMITS, MAX_ANSWER_BYTES, MAX_SLOW_BYTES } from "../../base/api/body-limits.ts";
import type { Json } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { cleanPath } from "../../base/go/url-escape.ts";
import { type ClientTls, type HttpAnswer, HttpClient } from "../../base/net/http-client.ts";
import type { UserAccess } from "../../base/net/server-access.ts";
import { serverResponse } from "../../base/net/server-response.ts";
import type { ResolveService } from "../../base/net/service-backend.ts";
import { transportError } from "../../base/net/transport-error.ts";
import type { Clock } from "../../base/util/clock.ts";
import { currentMeter, TooCostly } from "../../base/util/meter.ts";
import { parseForeignJson } from "../../data/encoding/json/json.ts";
import { decodeYaml } from "../../data/encoding/yaml/yaml.ts";

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
  /** Credentials for the webhook. If omitted, none are sent. */
  readonly credentials?: WebhookCredentials | undefined;
  /** Limits for the response if it is decoded here. Default: those of the client. */
  readonly limits?: AnswerLimits | undefined;
}

/** The webhook did not respond with JSON. `code` is the status code of its response, or 503. */
export class WebhookFailure extends Error {
  readonly code: number;

  constructor(message: string, code = 503) {
    super(message);
    this.code = code;
  }
}

/** Returns the certificate or token for a webhook's host. Undefined if there is none. */
export type WebhookCredentials = (host: string, port: number) => UserAccess | undefined;

/** High enough that webhooks which hang do not block calls to others on the same host. */
const MAX_CONNECTIONS = 1000;
const SECURE_PORT = 443;
/** Units of the meter for decoding a byte of YAML. */
const UNITS_PER_BYTE = 10;

interface Place {
  readonly url: URL;
  /** Host name that credentials are looked up by. */
  readonly host: string;
  readonly serverName?: string;
}

/** The part of a WebhookClient that callers need. */
export type WebhookPoster = Pick<WebhookClient, "post">;

/** Options of a WebhookClient. */
export interface WebhookClientOptions {
  readonly clock: Clock;
  readonly resolve: ResolveService;
  /** Every call fails without being sent. */
  readonly isOffline?: boolean | undefined;
  /** Limits for responses that are decoded here. Default: what the event loop can decode without a stall. */
  readonly limits?: AnswerLimits | undefined;
}

/** Calls webhooks by URL or by Service. The certificate of a Service must be valid for `<name>.<namespace>.svc`. */
export class WebhookClient {
  readonly #resolve: ResolveService;
  readonly #client: HttpClient;
  readonly #isOffline: boolean;
  readonly #limits: AnswerLimits;

  constructor({ clock, resolve, isOffline = false, limits = INLINE_LIMITS }: WebhookClientOptions) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#isOffline = isOffline;
    this.#client = new HttpClient({ clock, maxConnections: MAX_CONNECTIONS });
  }

  /**
   * Posts JSON and returns the JSON of the response. Throws WebhookFailure with the message of upstream's client, and
   * TooCostly if the response is too large for the meter of the request.
   */
  async post(request: WebhookRequest): Promise<Json> {
    const { config, body, timeoutMs, signal, credentials, limits = this.#limits } = request;
    const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`;
    const shown = `Post ${quote(`${shownUrl(config)}${query}`)}`;
    if (this.#isOffline) throw new WebhookFailure(`${shown}: webhooks are disabled here`);
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
          // Compat: `resolvingRoundTripper` keeps the host name of the Service.
          ...(serverName !== undefined && { host: `${serverName}:${port}` }),
        },
        body,
        tls: tlsOf(config, access, serverName),
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        ...(signal && { signal }),
      });
      return readAnswer(answer, limits);
    } catch (error) {
      if (error instanceof TooCostly) throw error;
      throw error instanceof WebhookFailure ? error : new WebhookFailure(`${shown}: ${transportError(error)}`);
    }
  }

  /** Closes idle connections. */
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

/** Compat: the client's `path.Join` turns //a/, which envtest writes, into /a. */
const pathOf = (path: string): string => cleanPath(`/${path}`);

/** Without a caBundle, the system's CAs are used. */
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

function readAnswer(answer: HttpAnswer, { maxBytes, maxValues }: AnswerLimits): Json {
  const { status, headers, body } = answer;
  const refusal = serverResponse(answer);
  if (refusal) throw new WebhookFailure(refusal.message, refusal.code);
  if (body.length === 0) {
    const type = headers["content-type"] ?? "application/json";
    throw new WebhookFailure(`0-length response with status code: ${status} and content type: ${type}`);
  }
  const isJson = body.find((byte) => byte > 0x20) === 0x7b;
  try {
    // Another thread may decode more.
    if (body.length > maxBytes) currentMeter().charge(body.length);
    if (body.length > maxBytes) throw new Error(`limit is ${maxBytes} bytes`);
    if (isJson) return parseForeignJson(body, maxValues);
    currentMeter().charge(body.length * UNITS_PER_BYTE);
    if (body.length > MAX_SLOW_BYTES) throw new Error(`limit is ${MAX_SLOW_BYTES} bytes of YAML`);
    return decodeYaml(body).value;
  } catch (error) {
    if (error instanceof TooCostly) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new WebhookFailure(`couldn't get version/kind; json parse error: ${text}`);
  }
}
