import { type ApiError, notAcceptable, unsupportedMediaType } from "../../../base/api/api-error.ts";
import type { ApiRequest } from "../../../base/api/call.ts";
import { parseBool } from "../../../base/go/parse-bool.ts";
import { memoize } from "../../../base/util/memoize.ts";
import { headerOf } from "../reply/encoded-reply.ts";
import { type AcceptClause, parseAccept } from "./accept.ts";

/** The supported media types of bodies. */
export type MediaType = "application/json" | "application/yaml" | "application/vnd.kubernetes.protobuf";

/** A representation of an object other than its own kind, from the group meta.k8s.io. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly version: "v1" | "v1beta1";
}

/** The negotiated form of a response. */
export interface OutputForm {
  readonly mediaType: MediaType;
  readonly isPretty: boolean;
  readonly transform?: Transform;
}

/** The forms that an endpoint offers. Default of all members: not offered. */
export interface OutputOffer {
  /** The go-restful route table of the endpoint. kube-apiserver checks it first, with a different message. */
  readonly route?: "object" | "list";
  /** The response is a stream of events. */
  readonly isWatch?: boolean;
  /** The kind supports Table. */
  readonly hasTable?: boolean;
  /** The endpoint supports transforms. */
  readonly hasTransforms?: boolean;
  /**
   * Whether protobuf is offered: for everything, or only for transforms, because custom objects have no protobuf
   * messages.
   */
  readonly hasProtobuf?: boolean | "views";
}

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const SERVED: readonly MediaType[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];

const PLAIN: OutputForm = { mediaType: JSON_TYPE, isPretty: false };
const PRETTY: OutputForm = { mediaType: JSON_TYPE, isPretty: true };

/**
 * Negotiates the form of the response. Throws ApiError 406 if nothing that the client accepts is offered. Errors are
 * negotiated with an offer that contains at most protobuf.
 */
export function negotiateOutput(request: ApiRequest, offer: OutputOffer): OutputForm {
  const accept = headerOf(request.headers, "accept");
  if (accept === undefined || accept === "" || accept === JSON_TYPE || accept === "*/*") {
    return wantsPretty(request) ? PRETTY : PLAIN;
  }
  const clauses = parseAccept(accept);
  if (offer.route !== undefined && !isRouted(accept)) throw notRouted(offer.route);
  let accepted = OBJECT_TYPES;
  for (const clause of clauses) {
    for (const mediaType of SERVED) {
      const form = matches(clause, mediaType) ? formOf(request, clause, mediaType, offer) : undefined;
      if (form === undefined) continue;
      if (!offer.isWatch || mediaType !== YAML_TYPE) return form;
      // Compat: 406 for a watch names the stream media types only if the Accept header names a type that a single
      // object has.
      accepted = WATCH_TYPES;
    }
  }
  throw notAcceptable(`only the following media types are accepted: ${accepted}`);
}

// Compat: built-in paths are behind go-restful, which supports only exact types and `*/*` and prints its own 406. Cached,
// because each request is negotiated twice: before its verb runs, and when the type of its response is known.
const isRouted: (accept: string) => boolean = memoize(
  (accept: string) =>
    accept.split(",").some((part) => {
      const type = (part.split(";")[0] ?? "").trim();
      return type === "*/*" || SERVED.some((mediaType) => mediaType === type);
    }),
  { results: 256, textLength: 1024 },
);

function notRouted(route: "object" | "list"): ApiError {
  const streams = route === "list" ? [`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`] : [];
  const produced = [...SERVED, ...streams].join(", ");
  const error = notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${produced}`);
  error.status.details = {};
  return error;
}

// Compat: the 406 lists protobuf even if it is not offered. Clients and recordings expect the whole text.
const OBJECT_TYPES = SERVED.join(", ");
const WATCH_TYPES = [JSON_TYPE, PROTOBUF_TYPE].map((type) => `${type};stream=watch`).join(", ");

function matches(clause: AcceptClause, mediaType: MediaType): boolean {
  if (clause.type === "*") return clause.subtype === "*";
  return clause.type === "application" && (clause.subtype === "*" || `application/${clause.subtype}` === mediaType);
}

function formOf(
  request: ApiRequest,
  clause: AcceptClause,
  mediaType: MediaType,
  offer: OutputOffer,
): OutputForm | undefined {
  const { as, g, v, stream, sv, pretty } = clause.parameters;
  if (stream !== undefined && stream !== "watch") return undefined;
  if (sv !== undefined && sv !== "" && sv !== "v1") return undefined;
  const isPretty = mediaType === JSON_TYPE && (pretty === "1" || wantsPretty(request));
  if (mediaType === PROTOBUF_TYPE && !hasProtobuf(offer, as)) return undefined;
  if (as === undefined) return { mediaType, isPretty };
  const transform = transformOf(as, g, v, offer);
  return transform && { mediaType, isPretty, transform };
}

function hasProtobuf(offer: OutputOffer, as: string | undefined): boolean {
  if (as === undefined) return offer.hasProtobuf === true;
  return offer.hasProtobuf !== undefined && offer.hasProtobuf !== false && as !== "Table";
}

function transformOf(
  kind: string,
  group: string | undefined,
  version: string | undefined,
  offer: OutputOffer,
): Transform | undefined {
  if (!offer.hasTransforms || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (kind === "Table") return offer.hasTable ? { kind, version } : undefined;
  if (kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList") return { kind, version };
  return undefined;
}

function wantsPretty(request: ApiRequest): boolean {
  const wish = request.query.get("pretty");
  if (wish !== null && wish !== "") return parseBool(wish) === true;
  const agent = headerOf(request.headers, "user-agent");
  // Compat: `isPrettyPrint`: curl, Wget and browsers get indented JSON, according to their User-Agent.
  return agent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(agent);
}

/**
 * The media type of the request body. Default: JSON. Throws ApiError 415, also for protobuf unless it is accepted:
 * custom objects have no protobuf messages.
 */
export function negotiateInput(request: ApiRequest, acceptsProtobuf = false): MediaType {
  const header = headerOf(request.headers, "content-type");
  if (header === undefined || header === "" || header === JSON_TYPE) return JSON_TYPE;
  const semicolon = header.indexOf(";");
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  if (type === JSON_TYPE || type === YAML_TYPE || (type === PROTOBUF_TYPE && acceptsProtobuf)) return type;
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${OBJECT_TYPES}`,
  );
}
