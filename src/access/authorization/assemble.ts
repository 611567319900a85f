import type { Authorizer } from "../../base/api/attributes.ts";
import type { RuleResolver } from "../../base/api/identity.ts";
import { quote } from "../../base/go/quote.ts";
import type { Environment } from "../../base/util/environment.ts";
import type { RoleRights } from "../../kinds/types/role-rights.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import type { AuthorizationObserver } from "./authorization-metrics.ts";
import { bootstrapRules } from "./bootstrap-policy.ts";
import { AuthorizerChain, type NamedAuthorizer } from "./chain.ts";
import { type OpenedWebhook, openWebhook, type WebhookObserver } from "./configuration/webhook.ts";
import type { AuthorizerConfiguration } from "./configuration.ts";
import type { GrantSource } from "./explain/explanation.ts";
import { NODE_MODE, NodeAuthorizer } from "./node-authorizer.ts";
import { NodeGraph } from "./node-graph.ts";
import { RbacAuthorizer } from "./rbac.ts";
import { RoleIndex, type RoleSource } from "./role-index.ts";

/** The configured authorization of the server. */
export interface Authorization {
  /** All authorizers as one. */
  readonly authorizer: Authorizer & RuleResolver;
  /** Rules that users hold, for privilege escalation checks. Available even if RBAC is not one of the modes. */
  readonly roles: RoleRights;
  /** The bindings of a user, for explanations. */
  readonly grants: GrantSource;
  /** Resolves when every stored role and binding has been loaded. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Replaces the authorizers. Rejects and changes nothing if one of them cannot be created. */
  replace(authorizers: readonly AuthorizerConfiguration[]): Promise<void>;
  /** Closes connections to webhooks. */
  close(): void;
  /** Watches roles, bindings and, for the mode Node, related objects until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Options of `authorization`. */
export interface AuthorizationOptions {
  readonly authorizers: readonly AuthorizerConfiguration[];
  readonly source: RoleSource;
  readonly environment: Pick<Environment, "clock" | "random" | "log">;
  readonly observer: WebhookObserver & Pick<AuthorizationObserver, "decided">;
  /** Receives errors of watching roles. The watch is retried. */
  readonly report: (error: unknown) => void;
}

const RETRY_MS = 500;
const WEBHOOK_MODE = "Webhook";

/** Creates the configured authorizers in order. Rejects if one of them cannot be created. */
export async function authorization(options: AuthorizationOptions): Promise<Authorization> {
  const { authorizers, source, environment, report } = options;
  const modes = authorizers.map(({ type }) => type);
  requireDifferent(modes);
  const index = new RoleIndex(source);
  const rbac = new RbacAuthorizer(index);
  const graph = modes.includes(NODE_MODE) ? new NodeGraph(source) : undefined;
  const known = new Map<string, Authorizer & RuleResolver>([
    ["AlwaysAllow", alwaysAllow],
    ["AlwaysDeny", alwaysDeny],
    ["RBAC", rbac],
    ...(graph ? [[NODE_MODE, new NodeAuthorizer(graph, bootstrapRules("system:node"))] as const] : []),
  ]);
  const webhooks = new Webhooks(options);
  const chain = await webhooks.chain(authorizers, known);
  const authorizer = new AuthorizerChain(chain, options.observer.decided);
  const forever = new AbortController().signal;
  return {
    authorizer,
    roles: roleRights(authorizer, rbac, () => index.loaded(forever)),
    grants: index,
    loaded: (signal) => index.loaded(signal),
    async replace(next) {
      const added = next.find(({ type }) => type !== WEBHOOK_MODE && !modes.includes(type) && type in NEEDS_START);
      if (added) {
        throw new Error(`authorizer type ${added.type} is not allowed if it was not enabled at initial server startup`);
      }
      authorizer.replace(await webhooks.chain(next, known));
    },
    close: () => webhooks.close(),
    async run(signal) {
      while (!signal.aborted) {
        try {
          await runTogether([index, ...(graph ? [graph] : [])], signal);
        } catch (error) {
          if (signal.aborted) return;
          report(error);
          await environment.clock.sleep(RETRY_MS, signal).catch(() => undefined);
        }
      }
    },
  };
}

/** Authorizers that must have been enabled when the server started. */
const NEEDS_START: Readonly<Record<string, true>> = { [NODE_MODE]: true, RBAC: true };

/** The webhooks of the current chain. They are closed when another chain replaces it. */
class Webhooks {
  readonly #options: AuthorizationOptions;
  #opened: readonly OpenedWebhook[] = [];

  constructor(options: AuthorizationOptions) {
    this.#options = options;
  }

  async chain(
    authorizers: readonly AuthorizerConfiguration[],
    known: ReadonlyMap<string, Authorizer & RuleResolver>,
  ): Promise<NamedAuthorizer[]> {
    const { environment, observer } = this.#options;
    const opened: OpenedWebhook[] = [];
    const chain: NamedAuthorizer[] = [];
    for (const { type, name, webhook } of authorizers) {
      if (type === WEBHOOK_MODE && webhook) {
        const one = await openWebhook(name, webhook, environment, observer);
        opened.push(one);
        chain.push({ type, name, authorizer: one.authorizer });
      } else chain.push({ type, name, authorizer: known.get(type) ?? refuseMode(type) });
    }
    this.close();
    this.#opened = opened;
    return chain;
  }

  close(): void {
    for (const webhook of this.#opened) webhook.close();
  }
}

/** Runs all parts until the signal aborts or one of them fails. */
async function runTogether(
  parts: readonly { run(signal: AbortSignal): Promise<void> }[],
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const outcomes = await Promise.allSettled(parts.map((part) => part.run(either).finally(() => failed.abort())));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) throw failure.reason;
}

/** Compat: `NewDefaultRuleResolver` of the registry reads the stored objects, not those of an informer. */
function roleRights(authorizer: Authorizer, rbac: RbacAuthorizer, refresh: () => Promise<void>): RoleRights {
  return {
    authorizer,
    async heldRules(user, namespace) {
      await refresh();
      const { rules, errors } = rbac.heldRules(user, namespace);
      return { rules, missing: errors.map(({ status }) => status.details?.name ?? "") };
    },
    async rulesOfRole(roleRef, namespace) {
      await refresh();
      return rbac.rulesOfRole(roleRef, namespace);
    },
  };
}

/** Compat: the messages of `BuiltInAuthorizationOptions.Validate`. */
function requireDifferent(modes: readonly string[]): void {
  if (modes.length === 0) throw new Error("at least one authorization-mode must be passed");
  const twice = modes.find((mode, index) => mode !== WEBHOOK_MODE && modes.indexOf(mode) !== index);
  if (twice !== undefined) {
    throw new Error(`authorization-mode [${modes.map(quote).join(" ")}] has mode specified more than once`);
  }
}

function refuseMode(mode: string): never {
  if (mode === "ABAC") {
    throw new Error("authorization-mode ABAC is not supported: convert its policies to roles and use RBAC");
  }
  if (mode === WEBHOOK_MODE) throw new Error("authorization-mode Webhook's authorization config file not passed");
  throw new Error(`authorization-mode ${quote(mode)} is not a valid mode`);
}
