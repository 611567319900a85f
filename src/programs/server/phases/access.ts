import { type Authentication, prepareAuthentication } from "../../../access/authentication/assemble.ts";
import { reviewIdentities } from "../../../access/authentication/reviews.ts";
import { union } from "../../../access/authentication/union.ts";
import { type Authorization, authorization } from "../../../access/authorization/assemble.ts";
import { authorizationMetrics, webhookMetrics } from "../../../access/authorization/authorization-metrics.ts";
import { configuredAuthorizers } from "../../../access/authorization/configuration/configured-authorizers.ts";
import { authenticationMetrics } from "../../../serving/metrics/authentication-metrics.ts";
import type { Judges } from "../object-parts.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** Who calls, and what callers may do. */
export interface AccessParts {
  readonly authorization: Authorization;
  readonly authentication: Authentication;
  /** Authorizer, token reviews and role permissions, for admission and reviews. */
  readonly judges: Judges;
  /** Audiences of tokens whose request names none. */
  readonly audiences: readonly string[];
  /** Counts decisions of the authorizers. */
  readonly decisions: ReturnType<typeof authorizationMetrics>;
  /** Counts attempts to authenticate. */
  readonly attempts: ReturnType<typeof authenticationMetrics>;
}

/** Builds the configured authorizers and authenticators. */
export async function assembleAccess(setting: Setting, storage: StorageParts): Promise<AccessParts> {
  const { config, environment, given, opened, log, registries, late } = setting;
  const { resources, identity, accounts } = storage;
  const { clock, random } = environment;
  const registry = registries["/metrics"];
  const decisions = authorizationMetrics(registry);
  const attempts = authenticationMetrics(registry);
  const authorizers = await configuredAuthorizers(config.authorization, { clock, log });
  const rights = await authorization({
    authorizers: authorizers.initial,
    source: resources,
    environment: { clock, random, log },
    observer: { ...webhookMetrics(registry), decided: decisions.decided },
    report: (error) => log.error("watching roles and bindings failed, retrying", { err: error }),
  });
  late.roles.set(rights.roles);
  opened.defer(() => rights.close());
  const reloading = authorizers.follow(rights.replace);
  opened.defer(() => reloading.close());
  const { audiences } = accounts.issuer;
  const authentication = await prepareAuthentication({
    config,
    identity,
    resources,
    environment: { ...environment, log },
    audiences,
    modes: authorizers.initial.map(({ type }) => type),
    tokens: attempts,
    accounts: union([
      ...(given.tokens ? [given.tokens] : []),
      accounts.authenticator(resources, () => late.clients.value.apiServer),
    ]),
  });
  opened.defer(() => authentication.close());
  const { authorizer, roles } = rights;
  const identities = reviewIdentities(authentication.authenticator, audiences, authorizer);
  const judges = { authorizer, identities, rights: roles };
  return { authorization: rights, authentication, judges, audiences, decisions, attempts };
}
