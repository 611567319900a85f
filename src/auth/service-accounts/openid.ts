import type { JsonObject } from "../../api/object.ts";
import type { VerifyingKey } from "./keys.ts";

/** Where the keys are served that tokens can be verified with. */
export const KEYS_PATH = "/openid/v1/jwks";
/** Where the OpenID discovery document is served. */
export const CONFIGURATION_PATH = "/.well-known/openid-configuration";

/**
 * Why nobody could discover this issuer by OpenID Connect Discovery 1.0; undefined when it can be. Compat: the texts of
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
