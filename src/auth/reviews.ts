import { ApiError } from "../api/api-error.ts";
import type { Authorizer } from "../api/attributes.ts";
import type { Identities, RuleResolver } from "../api/identity.ts";
import type { Authenticated, Authenticator } from "./authenticator.ts";

const REFUSED = "invalid bearer token";

/** Answers reviews by what requests themselves are judged by. */
export function reviewIdentities(
  authenticators: readonly Authenticator[],
  ownAudiences: readonly string[],
  authorizer: Authorizer & RuleResolver,
): Identities {
  return {
    async authenticateToken(token, audiences) {
      const wanted = audiences.length === 0 ? ownAudiences : audiences;
      const found = await recognize(authenticators, token);
      // Tokens that name no audience are meant for the server itself.
      const meant = found?.audiences ?? ownAudiences;
      const common = wanted.filter((audience) => meant.includes(audience));
      return found && common.length > 0 ? { user: found.user, audiences: common } : { audiences: [], error: REFUSED };
    },
    authorize: (attributes) => authorizer.authorize(attributes),
    rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  };
}

async function recognize(
  authenticators: readonly Authenticator[],
  bearerToken: string,
): Promise<Authenticated | undefined> {
  for (const authenticator of authenticators) {
    try {
      const found = await authenticator.authenticate({ bearerToken, headers: {} });
      if (found) return found;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return undefined;
}
