import type { Authorizer } from "../api/attributes.ts";
import type { Identities, RuleResolver } from "../api/identity.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, readBearer } from "./authenticator.ts";

/** Answers reviews by what requests themselves are judged by. */
export function reviewIdentities(
  authenticator: Authenticator,
  ownAudiences: readonly string[],
  authorizer: Authorizer & RuleResolver,
): Identities {
  return {
    async authenticateToken(token, audiences) {
      const wanted = audiences.length === 0 ? ownAudiences : audiences;
      // Compat: the TokenReview `REST` asks as a request with this token in its header would.
      const { token: bearerToken } = readBearer(`Bearer ${token}`);
      let found: Authenticated | undefined;
      try {
        found = await authenticator.authenticate({ bearerToken, headers: {}, audiences: wanted });
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        return { audiences: [], error: error.message };
      }
      // Tokens that name no audience are meant for the server itself.
      const common = commonAudiences(found?.audiences ?? ownAudiences, wanted);
      return found && common.length > 0 ? { user: found.user, audiences: common } : { audiences: [] };
    },
    authorize: (attributes) => authorizer.authorize(attributes),
    rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  };
}
