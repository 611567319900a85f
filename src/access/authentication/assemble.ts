import { X509Certificate } from "node:crypto";
import type { Environment, Log } from "../../base/util/environment.ts";
import type { Resources } from "../../resources/resources.ts";
import { anonymous } from "./anonymous.ts";
import { audienceAgnostic } from "./audiences.ts";
import { addAuthenticatedGroup } from "./authenticated-group.ts";
import { AuthenticationError, type Authenticator } from "./authenticator.ts";
import { bearerToken, ownToken } from "./bearer-token.ts";
import { BootstrapTokens } from "./bootstrap-tokens.ts";
import type { ClusterAuthentication } from "./cluster-trust.ts";
import { type ClientCAs, openClientCAs } from "./configuration/client-cas.ts";
import { type JwtAuthentication, prepareJwtAuthentication } from "./configuration/jwt-authentication.ts";
import { prepareTokenWebhook } from "./configuration/token-webhook.ts";
import type { ProxyHeaders } from "./credential-headers.ts";
import { FrontProxy, proxyHeaders } from "./front-proxy.ts";
import type { AuthenticationConfig } from "./options.ts";
import { secretsOfKubeSystem } from "./stored-secrets.ts";
import { TokenCache, type TokenCacheObserver } from "./token-cache.ts";
import type { StaticToken } from "./token-file.ts";
import { TokenAuthenticator } from "./token-file.ts";
import { union, unlessRefused } from "./union.ts";
import { webSocketToken } from "./websocket-token.ts";
import type { TrustedCAs } from "./x509/chain-verifier.ts";
import { ClientCertificates } from "./x509/client-certificates.ts";

/** Everything that authenticates requests. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** Headers of the authenticating proxy. They are removed from requests after authentication. */
  readonly proxyHeaders: ProxyHeaders | undefined;
  /**
   * CA certificates that client certificates are verified against, in PEM. Undefined if client certificates are not
   * accepted.
   */
  clientCa(): string | undefined;
  /** CAs and header names that this server trusts, as published in the ConfigMap extension-apiserver-authentication. */
  trust(): ClusterAuthentication;
  /** The listener is called when `clientCa` has changed. */
  onChange(listener: () => void): void;
  /** Stops watching files. */
  close(): void;
}

/** The part of the server configuration that concerns authentication. */
export interface AuthenticationOptions {
  readonly clientCaFile?: string;
  readonly authentication: AuthenticationConfig;
  readonly serviceAccounts: { readonly issuers: readonly string[] };
}

/** Credentials the server itself knows. */
export interface OwnCredentials {
  readonly admin: StaticToken;
  /** Tokens of `--token-auth-file`. */
  readonly tokens: readonly StaticToken[];
  /** CA of the administrator's certificate, as PEM. Undefined with `--client-ca-file`. */
  readonly ownAuthority: string | undefined;
}

/** Dependencies of `prepareAuthentication`. */
export interface AuthenticationParts {
  readonly config: AuthenticationOptions;
  readonly identity: OwnCredentials;
  readonly resources: Resources;
  readonly environment: Environment;
  /** Authenticates service account tokens. */
  readonly accounts: Authenticator;
  /** Audiences of the server. A token without audiences counts as issued for these. */
  readonly audiences: readonly string[];
  /** Authorization modes (`--authorization-mode`). */
  readonly modes: readonly string[];
  /** Receives the hits and misses of the token cache. */
  readonly tokens: TokenCacheObserver;
}

/** Compat: `TokenSuccessCacheTTL`. */
const CACHE_MS = 10_000;

/** Builds the configured authenticators. Rejects if a file cannot be read. */
export async function prepareAuthentication(parts: AuthenticationParts): Promise<Authentication> {
  const { config, identity, environment, audiences } = parts;
  const { frontProxy } = config.authentication;
  const cas = await openClientCAs(config, identity.ownAuthority, environment);
  const webhook = await prepareTokenWebhook(config.authentication, audiences, environment);
  const issuers = await prepareJwtAuthentication(config.authentication, config.serviceAccounts.issuers, environment);

  // Compat: the order of `authenticator.Config.New`. An authenticator that fails does not keep the next one from
  // running.
  const tokens = tokenChain(parts, issuers, webhook?.authenticator);
  const known = union([
    ...frontProxyOf(parts, cas),
    ...(cas.clients ? [new ClientCertificates(cas.clients, environment.clock)] : []),
    bearerToken(tokens),
    webSocketToken(tokens),
  ]);
  const everybody = unlessRefused([known, ...anonymousOf(parts, issuers)]);

  return {
    authenticator: ownToken(identity.admin, audiences, everybody),
    proxyHeaders: frontProxy && proxyHeaders(frontProxy),
    clientCa: () => cas.text(),
    trust: () => ({
      clientCa: printCAs(cas.clients),
      requestHeader: frontProxy && { ...frontProxy, ca: printCAs(cas.proxies) },
    }),
    onChange: (listener) => cas.onChange(listener),
    close() {
      cas.close();
      issuers.close();
      webhook?.close();
    },
  };
}

const printCAs = (cas: TrustedCAs | undefined): string =>
  (cas?.current ?? []).map(({ raw }) => new X509Certificate(raw).toString()).join("");

/** All bearer token authenticators behind a cache of 10 s. The first one that recognises a token wins. */
function tokenChain(
  parts: AuthenticationParts,
  issuers: JwtAuthentication,
  webhook: Authenticator | undefined,
): Authenticator {
  const { config, identity, accounts, resources, environment, audiences } = parts;
  const { clock } = environment;
  const agnostic = (authenticator: Authenticator) => audienceAgnostic(audiences, authenticator);
  const authenticators = [
    agnostic(new TokenAuthenticator([identity.admin, ...identity.tokens])),
    accounts,
    ...(config.authentication.bootstrapTokens
      ? [agnostic(new BootstrapTokens(secretsOfKubeSystem(resources), clock))]
      : []),
    agnostic(issuers.authenticator),
    ...(webhook ? [webhook] : []),
  ];
  const options = { clock, successMs: CACHE_MS, failureMs: 0, observer: parts.tokens };
  return new TokenCache(addAuthenticatedGroup(union(authenticators)), options);
}

function frontProxyOf({ config, environment, audiences }: AuthenticationParts, { proxies }: ClientCAs) {
  const { frontProxy } = config.authentication;
  if (frontProxy === undefined || proxies === undefined) return [];
  const authenticator = new FrontProxy(proxies, environment.clock, frontProxy);
  return [addAuthenticatedGroup(audienceAgnostic(audiences, authenticator))];
}

/**
 * Authenticates requests without credentials. Compat: `ApplyAuthorization` turns off --anonymous-auth with the mode
 * AlwaysAllow, because every anonymous client would be cluster-admin. Differs: this also overrides the file of
 * --authentication-config.
 */
function anonymousOf({ config, modes }: AuthenticationParts, issuers: JwtAuthentication): Authenticator[] {
  const { authentication } = config;
  const { enabled, conditions } = issuers.anonymous ?? { enabled: authentication.anonymous ?? true, conditions: [] };
  if (!enabled || modes.includes("AlwaysAllow")) return [];
  return [anonymous(conditions.length === 0 ? undefined : conditions.map(({ path }) => path))];
}

/** Maximum length of a logged reason. A reason may quote the header of a token. */
const MAX_REASON = 500;

/** Logs why a request was rejected. The client only sees 401. */
export function logRefusal(log: Log, error: unknown): void {
  if (error instanceof AuthenticationError && error.isExpected) {
    log.info("Unable to authenticate the request", { reason: error.message.slice(0, MAX_REASON) });
  } else log.error("Unable to authenticate the request", { err: error });
}
