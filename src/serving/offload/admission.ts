import type { Call } from "../../base/api/call.ts";
import type { Load } from "./fair-queue.ts";

/** The name of the flow that a call belongs to. Flows share the threads fairly. */
export type FlowOf = (call: Call) => string;

/**
 * Decides whether a call may wait for a thread. API priority and fairness can be put here, together with `FlowOf`. The
 * limits of the whole queue apply as well.
 */
export interface Admission {
  /** `bytes` is the size of the body, `waiting` is what waits of the flow already. False: the response is 429. */
  admits(call: Call, bytes: number, waiting: Load): boolean;
}

/** One flow per user. Anonymous requests are one flow, and so is each service account. */
export const flowOfUser: FlowOf = ({ user }) => user.name;

/** The same limits for every flow. */
export function limitFlows({ requests, bytes: maxBytes }: Load): Admission {
  return { admits: (_, bytes, waiting) => waiting.requests < requests && waiting.bytes + bytes <= maxBytes };
}
