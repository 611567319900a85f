import { type Command, InvalidArgumentError, Option } from "commander";
import type { AuthenticationConfig, OidcFlags } from "./config.ts";

/** What the flags of this file hold. */
export interface AuthenticationFlags {
  anonymousAuth?: boolean;
  authenticationConfig?: string;
  enableBootstrapTokenAuth: boolean;
  requestheaderClientCaFile?: string;
  requestheaderAllowedNames: string[];
  requestheaderUsernameHeaders: string[];
  requestheaderUidHeaders: string[];
  requestheaderGroupHeaders: string[];
  requestheaderExtraHeadersPrefix: string[];
  authenticationTokenWebhookConfigFile?: string;
  authenticationTokenWebhookVersion: string;
  authenticationTokenWebhookCacheTtl: number;
  oidcIssuerUrl?: string;
  oidcClientId?: string;
  oidcCaFile?: string;
  oidcUsernameClaim?: string;
  oidcUsernamePrefix?: string;
  oidcGroupsClaim?: string;
  oidcGroupsPrefix?: string;
  oidcSigningAlgs?: string[];
  oidcRequiredClaim?: Record<string, string>;
}

type OidcValues = Pick<AuthenticationFlags, Extract<keyof AuthenticationFlags, `oidc${string}`>>;
type OwnNames = Exclude<keyof AuthenticationFlags, keyof OidcValues>;

function boolean(text: string): boolean {
  if (text !== "true" && text !== "false") throw new InvalidArgumentError("expected true or false");
  return text === "true";
}

/** Compat: pflag's StringSlice: values with commas between them, in one flag or several. */
function list(text: string, known?: string[]): string[] {
  return [...(known ?? []), ...text.split(",")];
}

function pair(text: string, known: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 0) throw new InvalidArgumentError(`malformed pair, expect string=string`);
  return Object.fromEntries([...Object.entries(known), [text.slice(0, at).trim(), text.slice(at + 1).trim()]]);
}

/** Adds the flags of kube-apiserver by which callers are recognised. `duration` reads a span of time. */
export function addAuthenticationFlags(command: Command, duration: (text: string) => number): Command {
  const lists: [string, string][] = [
    ["--requestheader-allowed-names <names>", "common names of certificates of proxies; empty: all of the authority"],
    ["--requestheader-username-headers <names>", "headers by which a proxy names the user, such as X-Remote-User"],
    ["--requestheader-uid-headers <names>", "headers by which a proxy names the user's uid, such as X-Remote-Uid"],
    ["--requestheader-group-headers <names>", "headers by which a proxy names groups, such as X-Remote-Group"],
    ["--requestheader-extra-headers-prefix <prefixes>", "beginnings of headers of a proxy, such as X-Remote-Extra-"],
  ];
  command
    .addOption(
      new Option("--anonymous-auth [boolean]", "take requests without credentials for those of system:anonymous")
        .argParser(boolean)
        .preset("true"),
    )
    .option("--authentication-config <file>", "AuthenticationConfiguration: issuers of tokens, anonymous requests")
    .addOption(
      new Option("--enable-bootstrap-token-auth [boolean]", "take Secrets of bootstrap tokens for credentials")
        .argParser(boolean)
        .preset("true")
        .default(false),
    )
    .option("--requestheader-client-ca-file <file>", "authority of the certificates of authenticating proxies");
  for (const [flags, text] of lists) {
    command.addOption(new Option(flags, text).argParser(list).default([], "none"));
  }
  return command
    .option("--authentication-token-webhook-config-file <file>", "kubeconfig of the server to ask about tokens")
    .option("--authentication-token-webhook-version <version>", "version of what it is asked: v1 or v1beta1", "v1beta1")
    .addOption(
      new Option("--authentication-token-webhook-cache-ttl <time>", "how long its answers are kept")
        .argParser(duration)
        .default(120_000, "2m0s"),
    )
    .option("--oidc-issuer-url <url>", "issuer of OpenID Connect tokens")
    .option("--oidc-client-id <id>", "the audience that its tokens must have")
    .option("--oidc-ca-file <file>", "authority of the issuer's certificate; absent: those of the system")
    .option("--oidc-username-claim <claim>", "the claim that is the user's name; sub unless told")
    .option("--oidc-username-prefix <prefix>", "stands before names; the issuer's URL unless told, - for none")
    .option("--oidc-groups-claim <claim>", "the claim that holds groups")
    .option("--oidc-groups-prefix <prefix>", "stands before groups")
    .addOption(new Option("--oidc-signing-algs <names>", "algorithms of signatures; RS256 unless told").argParser(list))
    .addOption(new Option("--oidc-required-claim <claim=value>", "a claim that tokens must have").argParser(pair));
}

/** What the flags mean, and those of others. Throws, in kube-apiserver's words, when they contradict each other. */
export function takeAuthenticationFlags<Flags extends AuthenticationFlags>(
  flags: Flags,
): { authentication: AuthenticationConfig; rest: Omit<Omit<Flags, OwnNames>, keyof OidcValues> } {
  const {
    anonymousAuth,
    authenticationConfig,
    enableBootstrapTokenAuth,
    requestheaderClientCaFile,
    requestheaderAllowedNames,
    requestheaderUsernameHeaders,
    requestheaderUidHeaders,
    requestheaderGroupHeaders,
    requestheaderExtraHeadersPrefix,
    authenticationTokenWebhookConfigFile,
    authenticationTokenWebhookVersion,
    authenticationTokenWebhookCacheTtl,
    ...others
  } = flags;
  for (const [flag, values] of [
    ["requestheader-username-headers", requestheaderUsernameHeaders],
    ["requestheader-group-headers", requestheaderGroupHeaders],
    ["requestheader-extra-headers-prefix", requestheaderExtraHeadersPrefix],
    ["requestheader-allowed-names", requestheaderAllowedNames],
    ["requestheader-uid-headers", requestheaderUidHeaders],
  ] as const) {
    if (values.some((value) => value.trim() === "")) throw new Error(`empty value in "${flag}"`);
  }
  if (requestheaderUidHeaders.length > 0 && !requestheaderUidHeaders.some((name) => /^x-remote-uid$/i.test(name))) {
    const reason = "is set without specifying the standard X-Remote-Uid header - API aggregation will not work";
    throw new Error(`--requestheader-uid-headers ${reason}`);
  }
  const { oidc, rest } = takeOidcFlags(others);
  if (oidc !== undefined && authenticationConfig !== undefined) {
    throw new Error("authentication-config file and oidc-* flags are mutually exclusive");
  }
  const authentication: AuthenticationConfig = {
    ...(anonymousAuth === undefined ? {} : { anonymous: anonymousAuth }),
    bootstrapTokens: enableBootstrapTokenAuth,
    ...(requestheaderClientCaFile === undefined
      ? {}
      : {
          frontProxy: {
            clientCaFile: requestheaderClientCaFile,
            allowedNames: requestheaderAllowedNames,
            usernameHeaders: requestheaderUsernameHeaders,
            uidHeaders: requestheaderUidHeaders,
            groupHeaders: requestheaderGroupHeaders,
            extraHeaderPrefixes: requestheaderExtraHeadersPrefix,
          },
        }),
    ...(authenticationTokenWebhookConfigFile === undefined
      ? {}
      : {
          webhook: {
            configFile: authenticationTokenWebhookConfigFile,
            version: authenticationTokenWebhookVersion,
            cacheMs: authenticationTokenWebhookCacheTtl,
          },
        }),
    ...(oidc ? { oidc } : {}),
    ...(authenticationConfig === undefined ? {} : { configFile: authenticationConfig }),
  };
  return { authentication, rest };
}

function takeOidcFlags<Flags extends OidcValues>(
  flags: Flags,
): { oidc: OidcFlags | undefined; rest: Omit<Flags, keyof OidcValues> } {
  const {
    oidcIssuerUrl: issuerUrl,
    oidcClientId: clientId,
    oidcCaFile: caFile,
    oidcUsernameClaim: usernameClaim = "sub",
    oidcUsernamePrefix: usernamePrefix = "",
    oidcGroupsClaim: groupsClaim = "",
    oidcGroupsPrefix: groupsPrefix = "",
    oidcSigningAlgs: signingAlgs = ["RS256"],
    oidcRequiredClaim: requiredClaims = {},
    ...rest
  } = flags;
  const isGiven = Object.entries(flags).some(([name, value]) => name.startsWith("oidc") && value !== undefined);
  if (!isGiven) return { oidc: undefined, rest };
  if (!issuerUrl || !clientId) {
    throw new Error("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set");
  }
  const mapping = { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, signingAlgs, requiredClaims };
  return { oidc: { issuerUrl, clientId, ...(caFile !== undefined && { caFile }), ...mapping }, rest };
}
