import { createHash } from "node:crypto";
import { isObject } from "../../base/api/object.ts";
import type { HttpAnswer } from "../../base/net/http-client.ts";
import type { Backend } from "../../base/net/service-backend.ts";
import { getMember } from "../../base/util/members.ts";
import { parseForeignJson } from "../../data/encoding/json/json.ts";
import { keepPaths, type SwaggerPaths, swaggerPaths } from "../../data/schema/swagger-paths.ts";
import type { RemoteApi } from "./api-service.ts";
import type { ExtensionClient } from "./extension-client.ts";

/** Compat: the user that reads OpenAPI documents of extension servers. */
export const OPENAPI_READER = { name: "system:aggregator", groups: ["system:masters"] } as const;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
/** Larger version 2 documents are ignored, because parsing them would block the event loop. */
const MAX_SWAGGER_BYTES = 4 * 1024 * 1024;
const MAX_SWAGGER_VALUES = 150_000;

/** How to reach an extension server. */
export interface OpenApiReading {
  readonly client: ExtensionClient;
  readonly backend: Backend;
  readonly signal: AbortSignal;
}

/**
 * Reads the hash of an extension server's OpenAPI v3 document for a group version, from its index `/openapi/v3`.
 * Undefined if the server has no such document or provides no hash.
 */
export async function readOpenApiHash(reading: OpenApiReading, api: RemoteApi): Promise<string | undefined> {
  const answer = await read(reading, api, { uri: "/openapi/v3", maxBytes: MAX_BYTES });
  if (answer.status !== 200) return undefined;
  const index = parseForeignJson(answer.body);
  const paths = isObject(index) ? index.paths : undefined;
  const entry = isObject(paths) ? getMember(paths, `apis/${api.group}/${api.version}`) : undefined;
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  const hash = typeof url === "string" ? new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("hash") : null;
  return hash !== null && /^[0-9A-Za-z]{1,128}$/.test(hash) ? hash : undefined;
}

/** The part of an extension server's OpenAPI v2 document about a group version. */
export interface RemoteSwagger {
  /** ETag of the whole document. Undefined if the server does not send one. */
  readonly etag: string | undefined;
  /** SHA-512 of the whole document. */
  readonly hash: string;
  readonly content: SwaggerPaths | undefined;
}

/**
 * Fetches the version 2 document. Returns `known` if it has not changed or no longer exists; upstream's
 * `cached.LastSuccess` keeps the last document, too. Throws if the document cannot be read.
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
  const document = swaggerPaths(parseForeignJson(answer.body, MAX_SWAGGER_VALUES));
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
