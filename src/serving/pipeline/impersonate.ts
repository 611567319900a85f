import { isImpersonationHeader, readImpersonation } from "../../access/authentication/impersonation/headers.ts";
import { Impersonator } from "../../access/authentication/impersonation/impersonator.ts";
import type { Authorizer } from "../../base/api/attributes.ts";
import type { ApiRequest, Handler, Stage } from "../../base/api/call.ts";

/**
 * Replaces call.user according to the Impersonate-* headers, if the caller is allowed to impersonate. Later stages see
 * only the impersonated user and none of these headers. `isConstrained`: feature gate ConstrainedImpersonation.
 */
export function impersonate(authorizer: Authorizer, isConstrained: boolean): Stage {
  const impersonator = new Impersonator(authorizer, isConstrained);
  return (next) => {
    const impersonated: Handler = async (call) => {
      const wanted = readImpersonation(call.request.headers, isConstrained);
      if (wanted !== undefined) {
        const { user, constraint } = await impersonator.impersonate(wanted, call.attributes);
        call.impersonation = { by: call.user, constraint };
        call.user = user;
        removeHeaders(call.request);
      }
      return next(call);
    };
    return (call) => (hasImpersonationHeader(call.request) ? impersonated(call) : next(call));
  };
}

function hasImpersonationHeader({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function removeHeaders({ headers }: ApiRequest): void {
  const held: Record<string, unknown> = headers;
  for (const name of Object.keys(held)) if (isImpersonationHeader(name)) delete held[name];
}
