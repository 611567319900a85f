import { notAcceptable, unsupportedMediaType } from "../../api/api-error.ts";
import type { ApiRequest } from "../../api/call.ts";
import { headerOf } from "../reply/encoded-reply.ts";
import { type AcceptClause, parseAccept } from "./accept.ts";

/** The formats that bodies are written in. */
export type MediaType = "application/json" | "application/yaml" | "application/vnd.kubernetes.protobuf";

/** Another view of an object than its own kind, from the group meta.k8s.io. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly version: "v1" | "v1beta1";
}

/** How a reply is to be written. */
export interface OutputForm {
  readonly mediaType: MediaType;
  readonly isPretty: boolean;
  readonly transform?: Transform;
}

/** What an endpoint can offer. Absent members mean no. */
export interface OutputOffer {
  /** Which route table the endpoint belongs to: the real server refuses there first, with a text of its own. */
  readonly route?: "object" | "list";
  /** The reply is a stream of events. */
  readonly isWatch?: boolean;
  /** The kind can be shown as a Table. */
  readonly hasTable?: boolean;
  /** Views of objects may be asked for at all. */
  readonly hasTransforms?: boolean;
  /** Whether there is protobuf: of everything, or of views only, since custom objects have no messages. */
  readonly hasProtobuf?: boolean | "views";
}

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const SERVED: readonly MediaType[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];

const PLAIN: OutputForm = { mediaType: JSON_TYPE, isPretty: false };
const PRETTY: OutputForm = { mediaType: JSON_TYPE, isPretty: true };

/**
 * The form in which this request is to be answered. Throws ApiError 406 when nothing that the client accepts is
 * offered. Errors are negotiated with an offer of nothing but, perhaps, protobuf.
 */
export function negotiateOutput(request: ApiRequest, offer: OutputOffer): OutputForm {
  const accept = headerOf(request.headers, "accept");
  if (accept === undefined || accept === "" || accept === JSON_TYPE || accept === "*/*") {
    return wantsPretty(request) ? PRETTY : PLAIN;
  }
  const clauses = parseAccept(accept);
  if (offer.route !== undefined) checkRoute(accept, offer.route);
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

// Compat: built-in paths sit behind go-restful, which knows exact types and `*/*` only, and prints its own 406.
function checkRoute(accept: string, route: "object" | "list"): void {
  const produced: string[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
  const isKnown = accept.split(",").some((part) => {
    const type = (part.split(";")[0] ?? "").trim();
    return type === "*/*" || produced.includes(type);
  });
  if (isKnown) return;
  if (route === "list") produced.push(`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`);
  const error = notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${produced.join(", ")}`);
  error.status.details = {};
  throw error;
}

// Compat: the 406 lists protobuf even where it is not offered; clients and recordings know the whole text.
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

const TRUE_WORDS = ["1", "t", "T", "TRUE", "true", "True"];

function wantsPretty(request: ApiRequest): boolean {
  const wish = request.query.get("pretty");
  if (wish !== null && wish !== "") return TRUE_WORDS.includes(wish);
  const agent = headerOf(request.headers, "user-agent");
  // Compat: `isPrettyPrint`: curl, Wget and browsers get indented JSON, by their User-Agent.
  return agent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(agent);
}

/**
 * The format that a request body is written in; JSON when the client does not say. Throws ApiError 415, for protobuf
 * too unless it is accepted: custom objects have no messages.
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
