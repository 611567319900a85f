import { timingSafeEqual } from "node:crypto";
import { proceed } from "../lib/eventually.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator } from "./authenticator.ts";
import type { StaticToken } from "./token-file.ts";
import { joinErrors } from "./union.ts";

const INVALID = "invalid bearer token";

/** Compat: `bearertoken.Authenticator`: a token that nobody knows and nobody has an objection to is invalid. */
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
 * The token that the server itself made, before all other credentials: upstream's loopback token, ours is the
 * administrator's. It is meant for the audiences `own`. Whoever shows another token and is refused by `others` is told by both that his token is wrong.
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

/** Takes as long for any two texts of one length. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
