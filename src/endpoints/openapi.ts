import { createHash } from "node:crypto";
import type { Call } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import type { Clock } from "../lib/clock.ts";
import type { ResourceDefinition } from "../resources/definition.ts";
import type { SchemaSource } from "../schema/schema.ts";
import { openApiDocuments } from "./openapi-documents.ts";

const PREFIX = "/openapi/v3";
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** What the OpenAPI endpoints read. */
export interface OpenApiOptions {
  /** The kinds served now; a different array when any of them changed. */
  definitions(): readonly ResourceDefinition[];
  /** Built-in shapes by name. */
  readonly component: SchemaSource;
  /** Release number that the documents name, e.g. "1.37". */
  readonly release: string;
  readonly clock: Clock;
}

/** One finished document. */
interface Document {
  readonly body: Uint8Array;
  readonly hash: string;
}

/**
 * Answers `/openapi/v3` and everything below it. Documents are built when first asked for (the index asks for all of
 * them) and kept until the kinds in them change.
 */
export function openApiHandler(options: OpenApiOptions): (call: Call) => Promise<ApiReply> {
  const library = documentLibrary(options);
  return async (call) => {
    const { request } = call;
    if (request.path === PREFIX) return index(library());
    const path = request.path.slice(PREFIX.length + 1);
    const document = library().get(path)?.document();
    if (document === undefined) return { type: "raw", code: 404, headers: {}, body: "" };
    return documentReply(call, path, document, options.clock);
  };
}

/** A document that is made when first asked for, and the kinds it was made from. */
interface Shelved {
  readonly definitions: readonly ResourceDefinition[];
  readonly document: () => Document;
}
type Library = ReadonlyMap<string, Shelved>;

function documentLibrary(options: OpenApiOptions): () => Library {
  let definitions: readonly ResourceDefinition[] | undefined;
  let library: Library = new Map();
  return () => {
    const current = options.definitions();
    if (current === definitions) return library;
    const { component, release } = options;
    const next = new Map<string, Shelved>();
    for (const [path, plan] of openApiDocuments({ definitions: current, component, release })) {
      const known = library.get(path);
      const document = once(() => finish(JSON.stringify(plan.build())));
      const isSame = known !== undefined && sameItems(known.definitions, plan.definitions);
      next.set(path, isSame ? known : { definitions: plan.definitions, document });
    }
    definitions = current;
    library = next;
    return library;
  };
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, position) => item === b[position]);
}

function finish(json: string): Document {
  const body = new TextEncoder().encode(json);
  return { body, hash: createHash("sha512").update(body).digest("hex").toUpperCase() };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const urlOf = (path: string, { hash }: Document): string => `${PREFIX}/${path}?hash=${hash}`;

function index(library: Library): ApiReply {
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [path, { document }] of library) paths[path] = { serverRelativeURL: urlOf(path, document()) };
  // Compat: the real server sends this JSON as plain text; clients parse it whatever the header says.
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { type: "raw", code: 200, headers, body: JSON.stringify({ paths }) };
}

function documentReply(call: Call, path: string, document: Document, clock: Clock): ApiReply {
  const { headers, query } = call.request;
  const accept = headers.accept;
  if (!acceptsJson(typeof accept === "string" ? accept : accept?.join(","))) {
    return { type: "raw", code: 406, headers: { vary: "Accept" }, body: "" };
  }
  const etag = `"${document.hash}"`;
  const common = { etag, vary: "Accept" };
  const asked = query.get("hash");
  if (asked !== null && asked !== "" && asked !== document.hash) {
    const location = urlOf(path, document);
    return { type: "raw", code: 301, headers: { ...common, "content-type": "application/json", location }, body: "" };
  }
  const caching = asked === document.hash ? cacheForever(clock.now()) : {};
  if (matchesTag(headers["if-none-match"], etag)) {
    return { type: "raw", code: 304, headers: { ...common, ...caching }, body: "" };
  }
  return {
    type: "raw",
    code: 200,
    headers: { ...common, ...caching, "content-type": "application/json" },
    body: document.body,
  };
}

/** A document addressed by its hash never changes. */
function cacheForever(now: number): Record<string, string> {
  const expires = new Date(now + YEAR_MS).toUTCString().replace("GMT", "UTC");
  return { "cache-control": "public, immutable", expires };
}

/** Only JSON is offered; the binary form of these documents is not. */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "") return true;
  return accept.split(",").some((clause) => {
    const mediaType = (clause.split(";")[0] ?? "").trim().toLowerCase();
    return mediaType === "application/json" || mediaType === "application/*" || mediaType === "*/*";
  });
}

function matchesTag(header: string | readonly string[] | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = (typeof header === "string" ? header : header.join(",")).split(",").map((tag) => tag.trim());
  return tags.includes("*") || tags.some((tag) => tag.replace(/^W\//, "") === etag);
}
