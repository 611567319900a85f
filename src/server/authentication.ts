import { X509Certificate } from "node:crypto";
import { anonymous } from "../auth/anonymous.ts";
import { audienceAgnostic } from "../auth/audiences.ts";
import { addAuthenticatedGroup } from "../auth/authenticated-group.ts";
import { AuthenticationError, type Authenticator } from "../auth/authenticator.ts";
import { bearerToken, ownToken } from "../auth/bearer-token.ts";
import { BootstrapTokens } from "../auth/bootstrap-tokens.ts";
import type { ProxyHeaders } from "../auth/credential-headers.ts";
import { FrontProxy, proxyHeaders } from "../auth/front-proxy.ts";
import { secretsOfKubeSystem } from "../auth/stored-secrets.ts";
import { TokenCache, type TokenCacheObserver } from "../auth/token-cache.ts";
import { TokenAuthenticator } from "../auth/token-file.ts";
import { union, unlessRefused } from "../auth/union.ts";
import { webSocketToken } from "../auth/websocket-token.ts";
import type { TrustedAuthorities } from "../auth/x509/chain-verifier.ts";
import { ClientCertificates } from "../auth/x509/client-certificates.ts";
import type { ClusterAuthentication } from "../controllers/cluster-authentication-trust.ts";
import type { Environment, Log } from "../lib/environment.ts";
import type { Resources } from "../resources/resources.ts";
import { type ClientAuthorities, openClientAuthorities } from "./authentication/client-authorities.ts";
import { type JwtAuthentication, prepareJwtAuthentication } from "./authentication/jwt-authentication.ts";
import { prepareTokenWebhook } from "./authentication/token-webhook.ts";
import type { Config } from "./config.ts";
import type { Identity } from "./identity.ts";

/** Who is calling: everything that authenticates requests. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** What an authenticating proxy says, and nobody behind authentication shall see. */
  readonly proxyHeaders: ProxyHeaders | undefined;
  /** Those who sign client certificates, in PEM; undefined when none is accepted. */
  clientAuthority(): string | undefined;
  /** Whom this server believes, for those who are asked through it. */
  trust(): ClusterAuthentication;
  /** Called when `clientAuthority` has changed. */
  onChange(listener: () => void): void;
  /** Files are no longer followed. */
  close(): void;
}

/** What authentication is made of. */
export interface AuthenticationParts {
  readonly config: Config;
  readonly identity: Pick<Identity, "admin" | "tokens" | "ownAuthority">;
  readonly resources: Resources;
  readonly environment: Environment;
  /** Knows tokens of service accounts. */
  readonly accounts: Authenticator;
  /** For whom tokens are that name nobody. */
  readonly audiences: readonly string[];
  /** Who decides what callers may do. */
  readonly modes: readonly string[];
  /** Hears how often a token was known already. */
  readonly tokens: TokenCacheObserver;
}

/** Compat: `TokenSuccessCacheTTL`. */
const CACHE_MS = 10_000;

/** Makes the authenticators that are configured. Rejects when a file cannot be read. */
export async function prepareAuthentication(parts: AuthenticationParts): Promise<Authentication> {
  const { config, identity, environment, audiences } = parts;
  const { frontProxy } = config.authentication;
  const authorities = await openClientAuthorities(config, identity.ownAuthority, environment);
  const webhook = await prepareTokenWebhook(config.authentication, audiences, environment);
  const issuers = await prepareJwtAuthentication(config.authentication, config.serviceAccounts.issuers, environment);

  // Compat: the order of `authenticator.Config.New`, which goes on with the next one after an error.
  const tokens = tokenChain(parts, issuers, webhook?.authenticator);
  const known = union([
    ...frontProxyOf(parts, authorities),
    ...(authorities.clients ? [new ClientCertificates(authorities.clients, environment.clock)] : []),
    bearerToken(tokens),
    webSocketToken(tokens),
  ]);
  const everybody = unlessRefused([known, ...anonymousOf(parts, issuers)]);

  return {
    authenticator: ownToken(identity.admin, audiences, everybody),
    proxyHeaders: frontProxy && proxyHeaders(frontProxy),
    clientAuthority: () => authorities.text(),
    trust: () => ({
      clientCa: printAuthorities(authorities.clients),
      requestHeader: frontProxy && { ...frontProxy, ca: printAuthorities(authorities.proxies) },
    }),
    onChange: (listener) => authorities.onChange(listener),
    close() {
      authorities.close();
      issuers.close();
      webhook?.close();
    },
  };
}

const printAuthorities = (authorities: TrustedAuthorities | undefined): string =>
  (authorities?.current ?? []).map(({ raw }) => new X509Certificate(raw).toString()).join("");

/** All that know bearer tokens. The first that recognises one is believed; an answer is kept for 10 s. */
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

function frontProxyOf({ config, environment, audiences }: AuthenticationParts, { proxies }: ClientAuthorities) {
  const { frontProxy } = config.authentication;
  if (frontProxy === undefined || proxies === undefined) return [];
  const authenticator = new FrontProxy(proxies, environment.clock, frontProxy);
  return [addAuthenticatedGroup(audienceAgnostic(audiences, authenticator))];
}

/**
 * Who has no credentials. Compat: with the mode AlwaysAllow `ApplyAuthorization` resets --anonymous-auth, or anybody would be
 * an administrator; here what the file of --authentication-config says, too.
 */
function anonymousOf({ config, modes }: AuthenticationParts, issuers: JwtAuthentication): Authenticator[] {
  const { authentication } = config;
  const { enabled, conditions } = issuers.anonymous ?? { enabled: authentication.anonymous ?? true, conditions: [] };
  if (!enabled || modes.includes("AlwaysAllow")) return [];
  return [anonymous(conditions.length === 0 ? undefined : conditions.map(({ path }) => path))];
}

/** A reason may quote a token's header, which can be long. */
const MAX_REASON = 500;

/** Tells the operator why a request was refused, which the caller does not hear. */
export function logRefusal(log: Log, error: unknown): void {
  if (error instanceof AuthenticationError && error.isExpected) {
    log.info("Unable to authenticate the request", { reason: error.message.slice(0, MAX_REASON) });
  } else log.error("Unable to authenticate the request", { err: error });
}
