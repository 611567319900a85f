import { MAX_BODY_BYTES, tooManyValues } from "../api/body-limits.ts";
import { type ApiRequest, BodyError, type Call, type RequestBody } from "../api/call.ts";
import type { Json } from "../api/object.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { DecodeError, decodeJson, hasFarTooManyValues } from "../encoding/json/json.ts";
import { negotiateInput } from "../encoding/negotiation/negotiate.ts";
import type { SchemaOf } from "../encoding/protobuf/envelope.ts";
import { decodeBody } from "../encoding/request-body.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";

/** What decoding a request body depends on. */
export interface BodyContext {
  /** The shapes of kinds, for their binary form. */
  readonly schemaOf: SchemaOf;
  /** The kind that a path is about, for bodies that do not say theirs. */
  readonly kindOf: (info: RequestInfo) => PathKind | undefined;
  /** Whether a request with this body is too large to be worked on here. Absent: none is. */
  readonly isLarge?: (info: RequestInfo, body: Uint8Array) => boolean;
}

/** Thrown when a body has been read that is not to be decoded here; `offload` takes it from there. */
export class LargeBody extends Error {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super("the body is for another thread");
    this.name = "LargeBody";
    this.bytes = bytes;
  }
}

/** The kind that a path is about. */
export interface PathKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Its objects have no Go type behind them, and so no protobuf. */
  readonly isUnstructured: boolean;
}

/** How the body of a request is read and decoded. */
export function bodyReader(context: BodyContext, request: ApiRequest, info: RequestInfo): Call["body"] {
  const read = async (): Promise<Uint8Array> => {
    const bytes = await request.readBody(MAX_BODY_BYTES);
    if (context.isLarge?.(info, bytes)) throw new LargeBody(requireCountable(bytes));
    return bytes;
  };
  return (format) => (format === undefined ? readBody(context, request, info, read) : readPatch(read, format));
}

/** The body of a request that is carried out elsewhere whatever it has. */
export async function readLarge(request: ApiRequest): Promise<Uint8Array> {
  return requireCountable(await request.readBody(MAX_BODY_BYTES));
}

function requireCountable(bytes: Uint8Array): Uint8Array {
  if (hasFarTooManyValues(bytes)) throw tooManyValues();
  return bytes;
}

async function readBody(
  context: BodyContext,
  request: ApiRequest,
  info: RequestInfo,
  read: () => Promise<Uint8Array>,
): Promise<RequestBody> {
  const kind = context.kindOf(info);
  const mediaType = negotiateInput(request, kind?.isUnstructured !== true);
  const bytes = await read();
  return decodeBody(bytes, mediaType, { schemaOf: context.schemaOf, fallback: kind });
}

async function readPatch(read: () => Promise<Uint8Array>, format: "json" | "yaml"): Promise<RequestBody> {
  const bytes = await read();
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

/** A body that is a value already. Its bytes are made only for an error that quotes them. */
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
