import { ApiError } from "../api/api-error.ts";
import type { ApiRequest, UserInfo } from "../api/call.ts";
import type { Identities } from "../api/identity.ts";
import type { Authenticator } from "./authenticator.ts";

const REFUSED = "invalid bearer token";

/**
 * Answers by the given authenticators. Whoever they know may do everything: there are no authorizers yet, and the
 * answers say so.
 */
export function reviewIdentities(
  authenticators: readonly Authenticator[],
  ownAudiences: readonly string[],
): Identities {
  return {
    async recognize(token, audiences) {
      const wanted = audiences.length === 0 ? ownAudiences : audiences;
      // Tokens that name no audience are meant for the server itself.
      const common = wanted.filter((audience) => ownAudiences.includes(audience));
      const user = common.length === 0 ? undefined : await recognizeToken(authenticators, token);
      return user ? { user, audiences: common } : { audiences: [], error: REFUSED };
    },
    judge: async () => ({ allowed: true }),
    rulesOf: async () => ({
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    }),
  };
}

async function recognizeToken(authenticators: readonly Authenticator[], token: string): Promise<UserInfo | undefined> {
  const request = bearing(token);
  for (const authenticator of authenticators) {
    try {
      const user = await authenticator.authenticate(request);
      if (user) return user;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return undefined;
}

/** A request that consists of nothing but a token. */
function bearing(token: string): ApiRequest {
  return {
    method: "GET",
    path: "/",
    query: new URLSearchParams(),
    headers: { authorization: `Bearer ${token}` },
    authority: "",
    readBody: async () => new Uint8Array(),
    signal: new AbortController().signal,
  };
}
