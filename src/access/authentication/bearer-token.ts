import { timingSafeEqual } from "node:crypto";
import { proceed } from "../../base/util/eventually.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator } from "./authenticator.ts";
import type { StaticToken } from "./token-file.ts";
import { joinErrors } from "./union.ts";

const INVALID = "invalid bearer token";

/** Compat: `bearertoken.Authenticator`: a token that `tokens` has no opinion on is rejected as invalid. */
export function bearerToken(tokens: Authenticator): Authenticator {
  return {
    authenticate: (credentials) =>
      credentials.bearerToken ? proceed(tokens.authenticate(credentials), requireKnown) : undefined,
  };
}

function requireKnown(found: Authenticated | undefined): Authenticated {
  if (found === undefined) throw new AuthenticationError(INVALID);
  return found;
}

/**
 * Accepts the administrator's token, which the server generated (upstream: the loopback token), for the audiences
 * `own`. All other credentials go to `others`. If `others` rejects a token, the error contains both messages.
 */
export function ownToken({ token, user }: StaticToken, own: readonly string[], others: Authenticator): Authenticator {
  if (token === "") throw new Error("the server's own token is empty");
  const known = Buffer.from(token);
  return {
    authenticate(credentials) {
      const { bearerToken: sent, audiences: wanted = own } = credentials;
      if (!sent) return others.authenticate(credentials);
      if (sent.length === token.length && isEqual(Buffer.from(sent), known)) {
        const audiences = wanted === own ? own : commonAudiences(own, wanted);
        if (audiences.length > 0) return { user, audiences };
      }
      const refuse = (error: unknown): never => {
        throw joinErrors([new AuthenticationError(INVALID), error]);
      };
      try {
        const found = others.authenticate(credentials);
        return found instanceof Promise ? found.catch(refuse) : found;
      } catch (error) {
        return refuse(error);
      }
    },
  };
}

/** Constant-time comparison. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
