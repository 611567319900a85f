import { createHash } from "node:crypto";
import { isObject } from "../api/object.ts";
import type { HttpAnswer } from "../client/http-client.ts";
import { parseJson } from "../encoding/json/json.ts";
import { getMember } from "../lib/members.ts";
import { keepPaths, type SwaggerPaths, swaggerPaths } from "../schema/swagger-paths.ts";
import type { RemoteApi } from "./api-service.ts";
import type { ExtensionClient } from "./extension-client.ts";
import type { Backend } from "./resolve.ts";

/** Compat: who reads OpenAPI documents of extension servers, for whoever may read them here. */
export const OPENAPI_READER = { name: "system:aggregator", groups: ["system:masters"] } as const;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
/** A longer document of version 2 is not read: parsing it would hold up other requests. */
const MAX_SWAGGER_BYTES = 4 * 1024 * 1024;

/** An extension server, and how it is asked. */
export interface OpenApiReading {
  readonly client: ExtensionClient;
  readonly backend: Backend;
  readonly signal: AbortSignal;
}

/**
 * The hash by which an extension server's OpenAPI v3 document of a group version is known, from its index `/openapi/v3`.
 * Undefined: it has no such document, or does not tell.
 */
export async function readOpenApiHash(reading: OpenApiReading, api: RemoteApi): Promise<string | undefined> {
  const answer = await read(reading, api, { uri: "/openapi/v3", maxBytes: MAX_BYTES });
  if (answer.status !== 200) return undefined;
  const index = parseJson(answer.body);
  const paths = isObject(index) ? index.paths : undefined;
  const entry = isObject(paths) ? getMember(paths, `apis/${api.group}/${api.version}`) : undefined;
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  const hash = typeof url === "string" ? new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("hash") : null;
  return hash !== null && /^[0-9A-Za-z]{1,128}$/.test(hash) ? hash : undefined;
}

/** What an extension server's OpenAPI v2 document says about a group version. */
export interface RemoteSwagger {
  /** By which the whole document is known; undefined: its server does not tell. */
  readonly etag: string | undefined;
  /** SHA-512 of the whole document. */
  readonly hash: string;
  readonly content: SwaggerPaths | undefined;
}

/**
 * Asks for the document of version 2. The known one when that is still right, or when there is none any more: upstream's
 * `cached.LastSuccess` keeps what was read last. Throws when it cannot be read.
 */
export async function readSwagger(
  reading: OpenApiReading,
  api: RemoteApi,
  known: RemoteSwagger | undefined,
): Promise<RemoteSwagger | undefined> {
  const condition: Record<string, string> = known?.etag === undefined ? {} : { "if-none-match": known.etag };
  const answer = await read(reading, api, { uri: "/openapi/v2", maxBytes: MAX_SWAGGER_BYTES, headers: condition });
  if (answer.status !== 200) return known;
  const hash = createHash("sha512").update(answer.body).digest("base64");
  const { etag } = answer.headers;
  if (hash === known?.hash) return known;
  const document = swaggerPaths(parseJson(answer.body));
  const prefix = `/apis/${api.group}/${api.version}/`;
  return { etag, hash, content: document && keepPaths(document, (path) => path.startsWith(prefix)) };
}

interface DocumentRequest {
  readonly uri: string;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function read(
  { client, backend, signal }: OpenApiReading,
  api: RemoteApi,
  { uri, maxBytes, headers }: DocumentRequest,
): Promise<HttpAnswer> {
  const host = `${api.service.name}.${api.service.namespace}.svc`;
  const sent = { accept: "application/json", host, ...headers };
  return client.get(api, backend, {
    uri,
    headers: sent,
    user: OPENAPI_READER,
    maxBytes,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}
