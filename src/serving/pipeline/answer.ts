import { ApiError, internalError } from "../../base/api/api-error.ts";
import type { ApiRequest, Handler } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { encodeError, encodeReply } from "../../data/encoding/reply/reply.ts";
import type { ReportError } from "./answer-errors.ts";
import { type CallContext, callOf } from "./call.ts";

/** Dependencies of `answer`: decoding requests and encoding replies. */
export interface AnswerContext extends CallContext {
  /** Current time, for the age columns of Tables. */
  readonly now: () => number;
  /** Receives errors of the server itself, such as a reply that cannot be encoded. */
  readonly report: ReportError;
}

/**
 * Serves one request: decodes it into a call, runs the handler and encodes its reply or error. Never rejects with an
 * ApiError.
 */
export function answer(context: AnswerContext, handler: Handler, request: ApiRequest): Eventually<EncodedReply> {
  const call = callOf(context, request);
  const { warnings, auditId } = call;
  const { now, schemaOf } = context;
  const isCustom = call.info.isResource && context.kindOf(call.info)?.isUnstructured === true;
  const form = { warnings, auditId, now, schemaOf, isCustom };
  const finish = (reply: EncodedReply): EncodedReply => {
    const { flow } = call;
    if (flow !== undefined) {
      reply.headers["x-kubernetes-pf-flowschema-uid"] = flow.schema;
      reply.headers["x-kubernetes-pf-prioritylevel-uid"] = flow.level;
    }
    if (call.isLast) reply.headers.connection = "close";
    return reply;
  };
  const refuse = (error: unknown): EncodedReply => {
    const refusal = error instanceof ApiError ? error : internalError("encoding the response failed", error);
    if (refusal !== error) context.report(error, call);
    return finish(encodeError(request, refusal, form));
  };
  const encode = (reply: ApiReply): EncodedReply => {
    try {
      return finish(encodeReply(request, reply, form));
    } catch (error) {
      return refuse(error);
    }
  };
  try {
    const replying = handler(call);
    return replying instanceof Promise ? replying.then(encode, refuse) : encode(replying);
  } catch (error) {
    return refuse(error);
  }
}
