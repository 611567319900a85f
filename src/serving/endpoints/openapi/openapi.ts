import type { Call } from "../../../base/api/call.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { parseAccept } from "../../../data/encoding/negotiation/accept.ts";
import { headerOf } from "../../../data/encoding/reply/encoded-reply.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { pacer } from "../../../resources/pace.ts";
import { type SwaggerSource, swaggerLibrary } from "./openapi-v2.ts";
import { type Document, documentLibrary, type Library, type OpenApiSource, sameItems } from "./openapi-v3.ts";

const V2 = "/openapi/v2";
const V3 = "/openapi/v3";
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** Options of the OpenAPI endpoints. */
export interface OpenApiOptions extends SwaggerSource {
  readonly clock: Clock;
  /** Version 3 documents of aggregated API servers. Optional. If omitted, there are none. */
  remoteDocuments?(): readonly RemoteDocument[];
}

/** A document of an aggregated API server. */
export interface RemoteDocument {
  /** Path below `/openapi/v3/`, such as "apis/metrics.k8s.io/v1beta1". */
  readonly path: string;
  /** Undefined if its server does not provide one. */
  readonly hash: string | undefined;
}

/** The paths for the list at `/`. */
export const openApiPaths: readonly string[] = [V2, V3];

/**
 * Serves `/openapi/v2`, `/openapi/v3` and everything below the latter. Returns undefined for other paths. Documents are
 * built on first use and kept until their kinds change; the index builds all of version 3. Building pauses regularly,
 * so other requests are served meanwhile.
 */
export function openApiHandler(options: OpenApiOptions): (call: Call) => Promise<ApiReply> | undefined {
  const source = { ...options, definitions: establishedOf(() => options.definitions()) };
  const library = documentLibrary(source);
  const swagger = swaggerLibrary(source);
  return (call) => {
    const { path } = call.request;
    if (path === V2) return swaggerReply(call, swagger);
    if (path === V3) return index(library(), options.remoteDocuments?.() ?? []);
    return path.startsWith(`${V3}/`) ? documentReply(call, library(), options.clock) : undefined;
  };
}

/**
 * The kinds to publish; returns the same array while they are the same. Compat: the OpenAPI controller of apiextensions
 * omits definitions that are not Established.
 */
function establishedOf(definitions: OpenApiSource["definitions"]): OpenApiSource["definitions"] {
  let known: readonly ResourceDefinition[] = [];
  return () => {
    const current = definitions().filter(({ presence }) => presence?.isEstablished !== false);
    if (!sameItems(known, current)) known = current;
    return known;
  };
}

type Version = "v2" | "v3";
type Form = "json" | "binary";

const JSON_TYPE = "application/json";

function mediaTypeOf(version: Version, form: Form): string {
  return form === "json" ? JSON_TYPE : `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
}

/** The client's preferred format. Undefined if no supported format is acceptable. */
function formOf(call: Call, version: Version): Form | undefined {
  const accept = headerOf(call.request.headers, "accept");
  if (accept === undefined || accept === "") return "json";
  const binary = mediaTypeOf(version, "binary");
  // The old spelling, which is not a valid media type but still in use.
  const oldBinary = binary.replace(".v1.0", "@v1.0");
  for (const { type, subtype } of parseAccept(accept)) {
    if (type !== "application" && type !== "*") continue;
    if (subtype === "*" || subtype === "json") return "json";
    if ([binary, oldBinary].includes(`application/${subtype}`)) return "binary";
  }
  return undefined;
}

const NOT_ACCEPTABLE: ApiReply = { type: "raw", code: 406, headers: { vary: "Accept" }, body: "" };

async function swaggerReply(call: Call, swagger: () => Promise<Document>): Promise<ApiReply> {
  const form = formOf(call, "v2");
  if (form === undefined) return NOT_ACCEPTABLE;
  const document = await swagger();
  return write(call, document, { mediaType: mediaTypeOf("v2", form), form, caching: {} });
}

async function index(library: Library, remotes: readonly RemoteDocument[]): Promise<ApiReply> {
  const pause = pacer();
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [path, { document }] of library) {
    paths[path] = { serverRelativeURL: urlOf(path, await document()) };
    await pause();
  }
  for (const { path, hash } of remotes) {
    paths[path] = { serverRelativeURL: hash === undefined ? `${V3}/${path}` : urlOf(path, { hash }) };
  }
  // Compat: the JSON of `/openapi/v3` has the Content-Type text/plain; clients ignore the header.
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { type: "raw", code: 200, headers, body: JSON.stringify({ paths }) };
}

const urlOf = (path: string, { hash }: Pick<Document, "hash">): string => `${V3}/${path}?hash=${hash}`;

async function documentReply(call: Call, library: Library, clock: Clock): Promise<ApiReply> {
  const path = call.request.path.slice(V3.length + 1);
  const shelved = library.get(path);
  if (shelved === undefined) return { type: "raw", code: 404, headers: {}, body: "" };
  const form = formOf(call, "v3");
  if (form === undefined) return NOT_ACCEPTABLE;
  const document = await shelved.document();
  const mediaType = mediaTypeOf("v3", form);
  const asked = call.request.query.get("hash");
  if (asked !== null && asked !== "" && asked !== document.hash) {
    const headers = { etag: tagOf(document), vary: "Accept", "content-type": mediaType };
    return { type: "raw", code: 301, headers: { ...headers, location: urlOf(path, document) }, body: "" };
  }
  const caching = asked === document.hash ? cacheForever(clock.now()) : {};
  return write(call, document, { mediaType, form, caching });
}

interface Writing {
  readonly mediaType: string;
  readonly form: Form;
  readonly caching: Readonly<Record<string, string>>;
}

async function write(call: Call, document: Document, { mediaType, form, caching }: Writing): Promise<ApiReply> {
  const etag = tagOf(document);
  const headers = { etag, vary: "Accept", ...caching };
  if (matchesTag(call.request.headers["if-none-match"], etag)) return { type: "raw", code: 304, headers, body: "" };
  const body = form === "json" ? document.json : await document.binary();
  return { type: "raw", code: 200, headers: { ...headers, "content-type": mediaType }, body };
}

const tagOf = ({ hash }: Document): string => `"${hash}"`;

/** A document addressed by its hash never changes. */
function cacheForever(now: number): Record<string, string> {
  const expires = new Date(now + YEAR_MS).toUTCString().replace("GMT", "UTC");
  return { "cache-control": "public, immutable", expires };
}

function matchesTag(header: string | readonly string[] | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = (typeof header === "string" ? header : header.join(",")).split(",").map((tag) => tag.trim());
  return tags.includes("*") || tags.some((tag) => tag.replace(/^W\//, "") === etag);
}
