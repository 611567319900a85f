import type { Authorizer, Decision } from "../api/attributes.ts";
import type { Call, Handler, Stage } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import { forbiddenBy } from "../auth/forbidden.ts";
import { internalServerError } from "./plain-errors.ts";

const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

/** Who hears what was decided about requests, and how long that took. */
export interface ObservedAuthorization {
  readonly clock: { monotonic(): number };
  authorized(decision: Decision, seconds: number): void;
}

const UNOBSERVED: ObservedAuthorization = { clock: { monotonic: () => 0 }, authorized: () => {} };

/** Lets pass what the authorizer allows. Everything else is refused with 403, or with 500 when it cannot be decided. */
export function authorize(authorizer: Authorizer, { clock, authorized }: ObservedAuthorization = UNOBSERVED): Stage {
  const conclude = (next: Handler, call: Call, decided: Decision, startMs: number): Promise<ApiReply> => {
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
      return Promise.resolve(internalServerError(call.request, error));
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
