import type { Eventually } from "../util/eventually.ts";
import type { JsonObject } from "./object.ts";

/** Signs service account tokens, and holds the limits of TokenRequests. */
export interface TokenIssuer {
  /** `--service-account-issuer`: the `iss` claim. */
  readonly issuer: string;
  /** `--api-audiences`: default audiences of a TokenRequest. */
  readonly audiences: readonly string[];
  /** `--service-account-max-token-expiration`. 0: not limited. */
  readonly maxExpirationSeconds: number;
  /** `--service-account-extend-token-expiration`. */
  readonly extendsExpiration: boolean;
  /** Signs a token with these claims. Asynchronous in other threads than the main one. */
  sign(claims: JsonObject): Eventually<string>;
}
