import type { Call, Stage } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { negotiateOutput } from "../encoding/negotiation/negotiate.ts";
import { offerOf } from "../encoding/reply/reply.ts";
import { LargeBody, readLarge } from "./read-body.ts";

/** What decides which calls are carried out elsewhere, and who does it. */
export interface OffloadOptions {
  /** Whether a call writes, and has a query so long that what is told about it would take long. */
  readonly hasLargeQuery: (call: Call) => boolean;
  /** Whether the stored object that a call names is too large to be decoded here. Its size is given if it is known. */
  readonly isLargeObject: (info: RequestInfo, bytes?: number) => boolean;
  /** Whether the objects of a path have no Go type behind them. */
  readonly isUnstructured: (info: RequestInfo) => boolean;
  /** Carries out a call, whose body is given if it has been read. */
  readonly carryOut: (call: Call, body: Uint8Array | undefined) => Promise<ApiReply>;
}

/**
 * Has calls carried out elsewhere that would hold up all others: those whose body is large or changes a large object,
 * which `LargeBody` tells once it has been read, and reads that a large object must be decoded for. Nothing has happened
 * by then, so that such a call begins anew there.
 */
export function offload(options: OffloadOptions): Stage {
  const { hasLargeQuery, isLargeObject, carryOut } = options;
  return (next) => async (call) => {
    const { info, warnings } = call;
    const isRead = info.verb === "get";
    // Others than the object itself, such as /scale, are made of it before there is a reply.
    if (isRead && info.subresource !== "" && isLargeObject(info)) return carryOut(call, undefined);
    if (hasLargeQuery(call)) return carryOut(call, await readLarge(call.request));
    const warned = warnings.length;
    try {
      const reply = await next(call);
      if (!isRead || !isCostly(options, call, reply)) return reply;
    } catch (error) {
      if (!(error instanceof LargeBody)) throw error;
      warnings.length = warned;
      return carryOut(call, error.bytes);
    }
    warnings.length = warned;
    return carryOut(call, undefined);
  };
}

/** Whether a large object must be decoded, and printed again, for this reply. */
function isCostly(
  { isLargeObject, isUnstructured }: OffloadOptions,
  { request, info }: Call,
  reply: ApiReply,
): boolean {
  if (reply.type !== "object" || reply.view.stored === undefined) return false;
  const { bytes, isCopied } = reply.view.stored;
  if (!isLargeObject(info, bytes)) return false;
  const { mediaType, isPretty, transform } = negotiateOutput(request, offerOf(reply, isUnstructured(info)));
  return !isCopied || isPretty || transform !== undefined || mediaType !== "application/json";
}
