import { ApiError, internalError } from "../api/api-error.ts";
import type { ApiRequest, Handler } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { encodeError, encodeReply } from "../encoding/reply/reply.ts";
import type { ReportError } from "./answer-errors.ts";
import { type CallContext, callOf } from "./call.ts";

/** What turning requests into calls and replies into bytes depends on. */
export interface AnswerContext extends CallContext {
  /** The time, for the ages that tables show. */
  readonly now: () => number;
  /** Hears of answers that could not be written for a reason on our side. */
  readonly report: ReportError;
}

/** One request from end to end: bytes to a call, the handler, its reply to bytes. Never rejects with an ApiError. */
export async function answer(context: AnswerContext, handler: Handler, request: ApiRequest): Promise<EncodedReply> {
  const call = callOf(context, request);
  const { warnings, auditId } = call;
  const { now, schemaOf } = context;
  const isCustom = call.info.isResource && context.kindOf(call.info)?.isUnstructured === true;
  const form = { warnings, auditId, now, schemaOf, isCustom };
  let reply: EncodedReply;
  try {
    reply = encodeReply(request, await handler(call), form);
  } catch (error) {
    const refusal = error instanceof ApiError ? error : internalError("the answer could not be written", error);
    if (refusal !== error) context.report(error, call);
    reply = encodeError(request, refusal, form);
  }
  if (call.isLast) reply.headers.connection = "close";
  return reply;
}
