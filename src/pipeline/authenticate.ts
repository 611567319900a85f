import { unauthorized } from "../api/api-error.ts";
import type { Stage } from "../api/call.ts";
import { type Authenticator, RequestCredentials } from "../auth/authenticator.ts";

/** Anyone may ask whether the server lives and which version it is. */
const PUBLIC_PATHS: readonly string[] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/** Lets in whom one of the authenticators recognises; everybody else is refused, except on public paths. */
export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (next) => async (call) => {
    const credentials = new RequestCredentials(call.request);
    for (const authenticator of authenticators) {
      const found = await authenticator.authenticate(credentials);
      if (found) {
        call.user = found.user;
        return next(call);
      }
    }
    const { warning } = credentials;
    if (warning !== undefined) call.warnings.push(warning);
    if (PUBLIC_PATHS.includes(call.request.path) && credentials.bearerToken === undefined) return next(call);
    throw unauthorized();
  };
}

/** Leaves the user that the call was made with: calls from the process itself, see `makeCall`. */
export const keepUser: Stage = (next) => next;
