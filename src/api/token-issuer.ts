import type { Eventually } from "../lib/eventually.ts";
import type { JsonObject } from "./object.ts";

/** What signs the tokens of service accounts, and what their requests are limited by. */
export interface TokenIssuer {
  /** `--service-account-issuer`: the claim `iss`. */
  readonly issuer: string;
  /** `--api-audiences`: for whom tokens are whose request names nobody. */
  readonly audiences: readonly string[];
  /** `--service-account-max-token-expiration`; 0: as long as a request asks for. */
  readonly maxExpirationSeconds: number;
  /** `--service-account-extend-token-expiration`. */
  readonly extendsExpiration: boolean;
  /** The token with these claims. Threads other than the server's own have to ask for it. */
  sign(claims: JsonObject): Eventually<string>;
}
