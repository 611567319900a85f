import { MAX_BODY_BYTES, MAX_QUESTION_BYTES } from "../../base/api/body-limits.ts";
import { type ApiRequest, BodyError, type Call, type RequestBody } from "../../base/api/call.ts";
import type { Json } from "../../base/api/object.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { TooCostly } from "../../base/util/meter.ts";
import { DecodeError, decodeJson } from "../../data/encoding/json/json.ts";
import { negotiateInput } from "../../data/encoding/negotiation/negotiate.ts";
import type { SchemaOf } from "../../data/encoding/protobuf/envelope.ts";
import { decodeBody } from "../../data/encoding/request-body.ts";
import { decodeYaml } from "../../data/encoding/yaml/yaml.ts";

/** Dependencies of request body decoding. */
export interface BodyContext {
  /** Schemas of kinds, for protobuf. */
  readonly schemaOf: SchemaOf;
  /** The kind of a path, for bodies that do not name theirs. */
  readonly kindOf: (info: RequestInfo) => PathKind | undefined;
  /** Whether a body is too large to process on this thread. Optional. If omitted, no body is. */
  readonly isLarge?: (info: RequestInfo, body: Uint8Array) => boolean;
}

/** The body has been read and is to be decoded on another thread. */
export class TooLarge extends TooCostly {}

/** The kind that a path addresses. */
export interface PathKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Its objects have no Go type and therefore no protobuf encoding. */
  readonly isUnstructured: boolean;
  /** Maximum size of a body. Default: `MAX_BODY_BYTES`. */
  readonly maxBodyBytes?: number | undefined;
}

/** Returns the function that reads and decodes the body of a request. */
export function bodyReader(context: BodyContext, request: ApiRequest, info: RequestInfo): Call["body"] {
  const read = async (kind: PathKind | undefined): Promise<Uint8Array> => {
    const bytes = await request.readBody(maxBodyBytes(info, kind));
    if (context.isLarge?.(info, bytes)) throw new TooLarge();
    return bytes;
  };
  return (format) => {
    const kind = context.kindOf(info);
    return format === undefined ? readBody(context, request, kind, read) : readPatch(read(kind), format);
  };
}

/** Reads the body of a request that is offloaded regardless of its body. */
export function readLarge({ request, info }: Call, kindOf: BodyContext["kindOf"]): Promise<Uint8Array> {
  return request.readBody(maxBodyBytes(info, kindOf(info)));
}

/** The body of a deletion is DeleteOptions. */
function maxBodyBytes({ verb }: RequestInfo, kind: PathKind | undefined): number {
  if (verb === "delete" || verb === "deletecollection") return MAX_QUESTION_BYTES;
  return kind?.maxBodyBytes ?? MAX_BODY_BYTES;
}

async function readBody(
  context: BodyContext,
  request: ApiRequest,
  kind: PathKind | undefined,
  read: (kind: PathKind | undefined) => Promise<Uint8Array>,
): Promise<RequestBody> {
  const mediaType = negotiateInput(request, kind?.isUnstructured !== true);
  const bytes = await read(kind);
  return decodeBody(bytes, mediaType, { schemaOf: context.schemaOf, fallback: kind });
}

async function readPatch(reading: Promise<Uint8Array>, format: "json" | "yaml"): Promise<RequestBody> {
  const bytes = await reading;
  if (bytes.length === 0) return { value: null, isEmpty: true, bytes, format, duplicates: noDuplicates };
  try {
    const decoded = format === "yaml" ? decodeYaml(bytes) : decodeJson(bytes);
    return { ...decoded, isEmpty: false, bytes, format };
  } catch (error) {
    if (error instanceof DecodeError) throw new BodyError(error.message, bytes);
    throw error;
  }
}

const NO_BYTES = new Uint8Array();
const noDuplicates = (): readonly string[] => [];

/** Wraps a value as a request body. The bytes are only computed if an error quotes them. */
export function givenBody(value: Json | undefined): RequestBody {
  const format = "json";
  if (value === undefined) return { value: null, isEmpty: true, bytes: NO_BYTES, format, duplicates: noDuplicates };
  return {
    value,
    isEmpty: false,
    get bytes() {
      return Buffer.from(JSON.stringify(value));
    },
    format,
    duplicates: noDuplicates,
  };
}
