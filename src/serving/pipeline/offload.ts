import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { Meter, metered, TooCostly } from "../../base/util/meter.ts";
import { negotiateOutput } from "../../data/encoding/negotiation/negotiate.ts";
import { offerOf } from "../../data/encoding/reply/reply.ts";
import { boundCost } from "./bound-cost.ts";
import type { CostlyCalls } from "./costly-calls.ts";
import { type BodyContext, readLarge, TooLarge } from "./read-body.ts";

/** Decides which calls run on another thread, and runs them there. */
export interface OffloadOptions {
  /** Whether a call is a write with a query so long that reporting on it would block the event loop. */
  readonly hasLargeQuery: (call: Call) => boolean;
  /** Returns a response if a call cannot be offloaded now. `bytes`: the declared size of its body, which is not read yet. */
  readonly reject: (call: Call, bytes: number) => ApiReply | undefined;
  readonly kindOf: BodyContext["kindOf"];
  /** Whether the stored object that a call names is too large to decode on this thread. `bytes`: its size, if known. */
  readonly isLargeObject: (info: RequestInfo, bytes?: number) => boolean;
  /** Whether a call of this kind can run on another thread. */
  readonly isMovable: (info: RequestInfo) => boolean;
  /** Calls that were too costly lately. */
  readonly costly: CostlyCalls;
  /** Whether the objects of a path have no Go type. */
  readonly isUnstructured: (info: RequestInfo) => boolean;
  /** Runs a call on another thread. `body` is given if it has been read already. */
  readonly carryOut: (call: Call, body: Uint8Array | undefined) => Promise<ApiReply>;
}

/**
 * Units of the meter that a call may use on this thread, about 20 ms. A policy or schema of an administrator can make much of
 * a few bytes, so the size of a request says little about its cost.
 */
export const INLINE_UNITS = 200_000;

/**
 * Offloads calls that would block the event loop: writes with a large body or to a large object, writes that use up their
 * meter (both end with TooCostly), and reads that decode a large object. The call has had no effect by then, so it starts
 * over on the other thread. Writes that cannot move get a larger meter: see `boundCost`.
 */
export function offload(options: OffloadOptions): Stage {
  const { hasLargeQuery, isLargeObject, isMovable, costly, reject, kindOf, carryOut } = options;
  const startOver = async (call: Call): Promise<ApiReply> => {
    const body = await readLarge(call, kindOf);
    return carryOut(call, body.length === 0 ? undefined : body);
  };
  return (next) => {
    const bounded = boundCost(next);
    return (call) =>
      call.info.verb === "get" && call.info.subresource === "" ? read(call, next) : offloaded(call, next, bounded);
  };
  /** Most reads copy what is stored, and many have it at once. */
  function read(call: Call, next: Handler): Eventually<ApiReply> {
    if (hasLargeQuery(call)) return startOver(call);
    const warned = call.warnings.length;
    const conclude = (reply: ApiReply): Eventually<ApiReply> => {
      if (!isCostly(options, call, reply)) return reply;
      call.warnings.length = warned;
      return carryOut(call, undefined);
    };
    return proceed(next(call), conclude);
  }
  async function offloaded(call: Call, next: Handler, bounded: Handler): Promise<ApiReply> {
    const { info, warnings } = call;
    const isRead = info.verb === "get";
    // Subresources such as /scale decode the object before there is a reply.
    if (isRead && info.subresource !== "" && isLargeObject(info)) return carryOut(call, undefined);
    const rejection = isRead ? undefined : reject(call, declaredBytes(call.request));
    if (rejection) return rejection;
    if (hasLargeQuery(call) || (costly.has(call) && isMovable(info))) return startOver(call);
    const warned = warnings.length;
    try {
      if (!isRead && isMovable(info)) return await metered(new Meter(INLINE_UNITS), () => next(call));
      const reply = await (isRead ? next(call) : bounded(call));
      if (!isRead || !isCostly(options, call, reply)) return reply;
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      if (!(error instanceof TooLarge)) costly.add(call);
      warnings.length = warned;
      return startOver(call);
    }
    warnings.length = warned;
    return carryOut(call, undefined);
  }
}

function declaredBytes({ headers }: Call["request"]): number {
  const declared = headers["content-length"];
  return typeof declared === "string" ? Number(declared) : 0;
}

/** Whether encoding this reply requires decoding a large object. */
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
