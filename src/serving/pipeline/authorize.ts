import { forbiddenBy } from "../../access/authorization/forbidden.ts";
import type { Authorizer, Decision } from "../../base/api/attributes.ts";
import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { internalServerError } from "./plain-errors.ts";

const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

/** Receives each authorization decision and its duration in seconds, for metrics. */
export interface ObservedAuthorization {
  readonly clock: { monotonic(): number };
  authorized(decision: Decision, seconds: number): void;
}

const UNOBSERVED: ObservedAuthorization = { clock: { monotonic: () => 0 }, authorized: () => {} };

/** Passes on requests that the authorizer allows. Others get 403, or 500 if the authorizer reports an error. */
export function authorize(authorizer: Authorizer, { clock, authorized }: ObservedAuthorization = UNOBSERVED): Stage {
  const conclude = (next: Handler, call: Call, decided: Decision, startMs: number): Eventually<ApiReply> => {
    const { attributes, audit } = call;
    authorized(decided, (clock.monotonic() - startMs) / 1000);
    const { decision, reason = "", error } = decided;
    if (decision === "allow") {
      audit?.annotate(DECISION, "allow");
      audit?.annotate(REASON, reason);
      return next(call);
    }
    if (error !== undefined) {
      audit?.annotate(REASON, "internal error");
      return internalServerError(call.request, error);
    }
    audit?.annotate(DECISION, "forbid");
    audit?.annotate(REASON, reason);
    throw forbiddenBy(attributes, reason);
  };
  return (next) => (call) => {
    const startMs = clock.monotonic();
    const decided = authorizer.authorize(call.attributes);
    if (decided instanceof Promise) return decided.then((later) => conclude(next, call, later, startMs));
    return conclude(next, call, decided, startMs);
  };
}
