import { type ConfigOf, group, option } from "../../../base/options/option.ts";
import { boolean, duration, file, listWithEmpty, repeated, text } from "../../../base/options/value-types.ts";

/** Options about service-account tokens. */
export const serviceAccountOptions = {
  serviceAccounts: group({
    signingKeyFile: option(
      "service-account-signing-key-file",
      file("a private key"),
      "private key that signs service-account tokens; if omitted, one is generated",
    ),
    keyFiles: option(
      "service-account-key-file",
      repeated("file", "keys"),
      "keys that verify service-account tokens; may be repeated; by default the signing key",
      { default: [] },
    ),
    issuers: option(
      "service-account-issuer",
      repeated("url"),
      "accepted issuers of service-account tokens; may be repeated; new tokens have the first one",
      { default: ["https://kubernetes.default.svc"] },
    ),
    apiAudiences: option("api-audiences", listWithEmpty("names"), "token audiences that this server accepts", {
      default: [],
      shownDefault: "the issuers",
    }),
    maxTokenExpirationMs: option(
      "service-account-max-token-expiration",
      duration,
      "maximum lifetime of new tokens; 0 for no limit",
      { default: 0 },
    ),
    extendTokenExpiration: option(
      "service-account-extend-token-expiration",
      boolean,
      "tokens in projected volumes that the ServiceAccount admission plugin adds are valid for a year",
      { default: true },
    ),
    lookup: option(
      "service-account-lookup",
      boolean,
      "reject legacy tokens (from Secrets) whose Secret or ServiceAccount no longer exists",
      { default: true },
    ),
    jwksUri: option(
      "service-account-jwks-uri",
      text("url"),
      "key set URL in the OpenID discovery document, instead of this server's",
    ),
  }),
};

/** How service-account tokens are signed and verified. */
export type AccountTokenConfig = ConfigOf<typeof serviceAccountOptions>["serviceAccounts"];
