import { randomUUID } from "node:crypto";
import { ApiError, internalError } from "../api/api-error.ts";
import {
  type ApiRequest,
  BodyError,
  type Call,
  type Handler,
  type RequestBody,
  type Stage,
  type UserInfo,
} from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import { parseRequestInfo, type RequestInfo } from "../api/request-info.ts";
import { DecodeError, decodeJson } from "../encoding/json/json.ts";
import { negotiateInput, negotiateOutput } from "../encoding/negotiation/negotiate.ts";
import type { SchemaOf } from "../encoding/protobuf/envelope.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { encodeError, encodeReply, offerOf } from "../encoding/reply/reply.ts";
import { decodeBody } from "../encoding/request-body.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";

/** What turning requests into calls and replies into bytes depends on. */
export interface AnswerContext {
  /** The shapes of kinds, for their binary form. */
  readonly schemaOf: SchemaOf;
  /** Hears of answers that could not be written for a reason on our side. */
  readonly report: (error: unknown, call: Call) => void;
  /** The kind that a path is about, for bodies that do not say theirs. */
  readonly kindOf: (info: RequestInfo) => { readonly apiVersion: string; readonly kind: string } | undefined;
}

const MAX_BODY_BYTES = 3 * 1024 * 1024;
const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** One request from end to end: bytes to a call, the handler, its reply to bytes. Never rejects with an ApiError. */
export async function answer(context: AnswerContext, handler: Handler, request: ApiRequest): Promise<EncodedReply> {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const warnings: string[] = [];
  const auditId = request.headers["audit-id"];
  const reply = {
    warnings,
    auditId: typeof auditId === "string" ? auditId : randomUUID(),
    now: Date.now,
    schemaOf: context.schemaOf,
  };
  const body: Call["body"] = (format) =>
    format === undefined ? readBody(context, request, info) : readPatch(request, format);
  const call: Call = { request, info, user: ANONYMOUS, warnings, body };
  try {
    return encodeReply(request, await handler(call), reply);
  } catch (error) {
    const refusal = error instanceof ApiError ? error : internalError("the answer could not be written", error);
    if (refusal !== error) context.report(error, call);
    return encodeError(request, refusal, reply);
  }
}

const REPLY_TYPES: Readonly<Record<string, ApiReply["type"]>> = {
  list: "list",
  deletecollection: "list",
  watch: "watch",
};

/**
 * Compat: a form that cannot be had is refused before anything is done. `hasTable` tells whether what a path answers
 * with can be shown as a table; for paths that are not served it may say anything.
 */
export function negotiate(hasTable: (info: RequestInfo) => boolean): Stage {
  return (next) => async (call) => {
    const { info } = call;
    if (info.isResource) {
      const reply = { type: REPLY_TYPES[info.verb] ?? "object", table: hasTable(info) ? { columns: [] } : undefined };
      negotiateOutput(call.request, offerOf(reply, false));
    }
    return next(call);
  };
}

const FORMATS: Readonly<Record<string, RequestBody["format"]>> = {
  "application/yaml": "yaml",
  "application/vnd.kubernetes.protobuf": "protobuf",
};

async function readBody(context: AnswerContext, request: ApiRequest, info: RequestInfo): Promise<RequestBody> {
  const mediaType = negotiateInput(request, true);
  const bytes = await request.readBody(MAX_BODY_BYTES);
  const format = FORMATS[mediaType] ?? "json";
  if (bytes.length === 0) return { value: null, bytes, format, duplicates: () => [] };
  const { value, duplicates } = decodeBody(bytes, mediaType, {
    schemaOf: context.schemaOf,
    fallback: context.kindOf(info),
  });
  return { value, bytes, format, duplicates };
}

async function readPatch(request: ApiRequest, format: "json" | "yaml"): Promise<RequestBody> {
  const bytes = await request.readBody(MAX_BODY_BYTES);
  if (bytes.length === 0) return { value: null, bytes, format, duplicates: () => [] };
  try {
    const { value, duplicates } = format === "yaml" ? decodeYaml(bytes) : decodeJson(bytes);
    return { value, bytes, format, duplicates };
  } catch (error) {
    if (error instanceof DecodeError) throw new BodyError(error.message, bytes);
    throw error;
  }
}
