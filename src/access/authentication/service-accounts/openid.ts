import type { JsonObject } from "../../../base/api/object.ts";
import type { VerifyingKey } from "./keys.ts";

/** A JSON document of the token issuer. */
export interface OpenIdDocument {
  readonly path: string;
  readonly mediaType: string;
  /** Read on every call. */
  body(): string;
}

/** Path of the JSON web key set. */
export const KEYS_PATH = "/openid/v1/jwks";
/** Path of the OpenID discovery document. */
export const CONFIGURATION_PATH = "/.well-known/openid-configuration";

/**
 * Why OpenID Connect Discovery 1.0 is impossible for this issuer. Undefined if it is possible. Compat: the messages of
 * `NewOpenIDMetadataProvider`.
 */
export function issuerProblem(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (url?.protocol !== "https:") return `issuer URL must use https scheme, got: ${issuer}`;
  if (url.search !== "") return `issuer URL may not include a query, got: ${issuer}`;
  if (url.hash !== "") return `issuer URL may not include a fragment, got: ${issuer}`;
  return undefined;
}

/** The OpenID discovery document of an issuer. */
export function openIdConfiguration(issuer: string, keysUri: string, keys: readonly VerifyingKey[]): JsonObject {
  return {
    issuer,
    jwks_uri: keysUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}

/** The JSON web key set of all keys, public parts only. */
export function openIdKeys(keys: readonly VerifyingKey[]): JsonObject {
  return {
    keys: keys.map(({ id, algorithm, key }) => {
      const { kty, n, e, crv, x, y } = key.export({ format: "jwk" });
      const own = kty === "RSA" ? { n, e } : { crv, x, y };
      return { use: "sig", kty, kid: id, alg: algorithm, ...own };
    }),
  };
}
