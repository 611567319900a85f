import type { Authorizer } from "../api/attributes.ts";
import type { ApiRequest, Handler, Stage } from "../api/call.ts";
import { isImpersonationHeader, readImpersonation } from "../auth/impersonation/headers.ts";
import { Impersonator } from "../auth/impersonation/impersonator.ts";

/**
 * Takes callers who may for whom their Impersonate-* headers say; everything behind this stage sees that user only, and
 * none of these headers. `isConstrained`: the feature gate ConstrainedImpersonation.
 */
export function impersonate(authorizer: Authorizer, isConstrained: boolean): Stage {
  const impersonator = new Impersonator(authorizer, isConstrained);
  return (next) => {
    const asked: Handler = async (call) => {
      const wanted = readImpersonation(call.request.headers, isConstrained);
      if (wanted !== undefined) {
        const { user, constraint } = await impersonator.impersonate(wanted, call.attributes);
        call.impersonation = { by: call.user, constraint };
        call.user = user;
        removeHeaders(call.request);
      }
      return next(call);
    };
    return (call) => (isAsked(call.request) ? asked(call) : next(call));
  };
}

function isAsked({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function removeHeaders({ headers }: ApiRequest): void {
  const held: Record<string, unknown> = headers;
  for (const name of Object.keys(held)) if (isImpersonationHeader(name)) delete held[name];
}
