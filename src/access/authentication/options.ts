import { type ConfigOf, group, option, optionalGroup, requiredOption } from "../../base/options/option.ts";
import { anyText, boolean, duration, file, list, listWithEmpty, pairs, text } from "../../base/options/value-types.ts";
import { serviceAccountOptions } from "./service-accounts/options.ts";

const headers = listWithEmpty("names");

const frontProxyMembers = {
  clientCaFile: requiredOption(
    "requestheader-client-ca-file",
    file("certificates"),
    "CA bundle for client certificates of authenticating proxies",
  ),
  allowedNames: option(
    "requestheader-allowed-names",
    headers,
    "accepted common names of proxies' client certificates; empty accepts all",
    { default: [] },
  ),
  usernameHeaders: option(
    "requestheader-username-headers",
    headers,
    "headers with the user name, such as X-Remote-User",
    { default: [] },
  ),
  uidHeaders: option("requestheader-uid-headers", headers, "headers with the user's UID, such as X-Remote-Uid", {
    default: [],
  }),
  groupHeaders: option("requestheader-group-headers", headers, "headers with groups, such as X-Remote-Group", {
    default: [],
  }),
  extraHeaderPrefixes: option(
    "requestheader-extra-headers-prefix",
    headers,
    "prefixes of headers with extra fields, such as X-Remote-Extra-",
    { default: [], placeholder: "prefixes" },
  ),
};

const frontProxy = optionalGroup(frontProxyMembers, {
  key: "clientCaFile",
  conflict(given) {
    for (const [name, { flag }] of Object.entries(frontProxyMembers)) {
      const values: unknown = given[name as keyof typeof frontProxyMembers];
      const isBlank = Array.isArray(values) && values.some((value: string) => value.trim() === "");
      if (isBlank) return `empty value in "${flag}"`;
    }
    const { uidHeaders = [] } = given;
    const lacksUid = uidHeaders.length > 0 && !uidHeaders.some((name) => /^x-remote-uid$/i.test(name));
    const reason = "is set without specifying the standard X-Remote-Uid header - API aggregation will not work";
    return lacksUid ? `--requestheader-uid-headers ${reason}` : undefined;
  },
});

const webhook = optionalGroup(
  {
    configFile: requiredOption(
      "authentication-token-webhook-config-file",
      file(),
      "kubeconfig of a webhook that authenticates bearer tokens",
    ),
    version: option(
      "authentication-token-webhook-version",
      text("version"),
      "TokenReview API version to send: v1 or v1beta1",
      { default: "v1beta1" },
    ),
    cacheMs: option(
      "authentication-token-webhook-cache-ttl",
      duration,
      "how long responses of the webhook are cached",
      { default: 120_000 },
    ),
  },
  { key: "configFile" },
);

const oidc = optionalGroup(
  {
    issuerUrl: requiredOption("oidc-issuer-url", text("url"), "issuer of OpenID Connect tokens"),
    clientId: requiredOption("oidc-client-id", text("id"), "audience that its tokens must have"),
    caFile: option(
      "oidc-ca-file",
      file("certificates"),
      "CA bundle for the issuer's serving certificate; by default the system's",
    ),
    usernameClaim: option("oidc-username-claim", text("claim"), "claim with the user name", { default: "sub" }),
    usernamePrefix: option(
      "oidc-username-prefix",
      anyText("prefix"),
      "prefix of user names; by default the issuer URL and #; - for no prefix",
      { default: "" },
    ),
    groupsClaim: option("oidc-groups-claim", anyText("claim"), "claim with the groups", { default: "" }),
    groupsPrefix: option("oidc-groups-prefix", anyText("prefix"), "prefix of groups", { default: "" }),
    signingAlgs: option("oidc-signing-algs", list("names"), "accepted signature algorithms", { default: ["RS256"] }),
    requiredClaims: option("oidc-required-claim", pairs, "claim that tokens must have; may be repeated", {
      placeholder: "claim=value",
      default: {},
    }),
  },
  {
    conflict: ({ issuerUrl, clientId }) =>
      issuerUrl && clientId
        ? undefined
        : "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
  },
);

/** Options about authentication. Compat: conflicts have the messages of `BuiltInAuthenticationOptions.Validate`. */
export const authenticationOptions = {
  authentication: group(
    {
      anonymous: option(
        "anonymous-auth",
        boolean,
        "authenticate requests without credentials as system:anonymous instead of rejecting them",
        { shownDefault: "true" },
      ),
      configFile: option(
        "authentication-config",
        file(),
        "AuthenticationConfiguration: JWT issuers and anonymous requests",
      ),
      bootstrapTokens: option(
        "enable-bootstrap-token-auth",
        boolean,
        "accept bootstrap tokens from Secrets of type bootstrap.kubernetes.io/token",
        { default: false },
      ),
      ...{ frontProxy, webhook, oidc },
    },
    ({ oidc: flags, configFile }) =>
      flags !== undefined && configFile !== undefined
        ? "authentication-config file and oidc-* flags are mutually exclusive"
        : undefined,
  ),
  clientCaFile: option("client-ca-file", file("certificates"), "CA bundle for client certificates"),
  tokenAuthFile: option("token-auth-file", file(), 'static tokens: lines of token,user,uid,"group,group"'),
  ...serviceAccountOptions,
};

/** How requests are authenticated, besides `clientCaFile` and `tokenAuthFile`. */
export type AuthenticationConfig = ConfigOf<typeof authenticationOptions>["authentication"];
/** The `--oidc-*` flags. */
export type OidcFlags = NonNullable<AuthenticationConfig["oidc"]>;
