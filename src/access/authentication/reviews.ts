import type { Authorizer } from "../../base/api/attributes.ts";
import type { Identities, RuleResolver } from "../../base/api/identity.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, readBearer } from "./authenticator.ts";

/** Answers TokenReviews and access reviews with the authenticator and authorizer that requests go through. */
export function reviewIdentities(
  authenticator: Authenticator,
  ownAudiences: readonly string[],
  authorizer: Authorizer & RuleResolver,
): Identities {
  return {
    async authenticateToken(token, audiences) {
      const wanted = audiences.length === 0 ? ownAudiences : audiences;
      // Compat: the TokenReview `REST` authenticates a request that has this token in its header.
      const { token: bearerToken } = readBearer(`Bearer ${token}`);
      let found: Authenticated | undefined;
      try {
        found = await authenticator.authenticate({ bearerToken, headers: {}, audiences: wanted });
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        return { audiences: [], error: error.message };
      }
      // A token without audiences counts as issued for the server itself.
      const common = commonAudiences(found?.audiences ?? ownAudiences, wanted);
      return found && common.length > 0 ? { user: found.user, audiences: common } : { audiences: [] };
    },
    authorize: (attributes) => authorizer.authorize(attributes),
    rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  };
}
