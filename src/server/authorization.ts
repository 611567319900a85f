import type { RoleRights } from "../actions/role-escalation.ts";
import type { Authorizer } from "../api/attributes.ts";
import { quote } from "../api/field-error.ts";
import type { RuleResolver } from "../api/identity.ts";
import { alwaysAllow, alwaysDeny } from "../auth/authorization/always.ts";
import { AuthorizerChain } from "../auth/authorization/chain.ts";
import { NODE_MODE, NodeAuthorizer } from "../auth/authorization/node-authorizer.ts";
import { NodeGraph } from "../auth/authorization/node-graph.ts";
import { RbacAuthorizer } from "../auth/authorization/rbac.ts";
import { RoleIndex, type RoleSource } from "../auth/authorization/role-index.ts";
import type { GrantSource } from "../auth/explain/explanation.ts";
import { bootstrapRules } from "../controllers/bootstrap-roles.ts";
import type { Clock } from "../lib/clock.ts";
import { getMember } from "../lib/members.ts";

/** Who may do what, as the server is configured. */
export interface Authorization {
  /** All authorizers together. */
  readonly authorizer: Authorizer & RuleResolver;
  /** What writers of roles may give away, whether or not RBAC is one of the modes. */
  readonly roles: RoleRights;
  /** By which bindings somebody has rights, for explanations. */
  readonly grants: GrantSource;
  /** Resolves when every role that is stored now is known. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Follows what decisions go by until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** What authorization works with. */
export interface AuthorizationOptions {
  readonly modes: readonly string[];
  readonly source: RoleSource;
  readonly clock: Clock;
  /** Hears why roles could not be followed for a while. */
  readonly report: (error: unknown) => void;
}

const RETRY_MS = 500;

/** The authorizers of `--authorization-mode`, in their order. Throws when one of them is not to be had. */
export function authorization({ modes, source, clock, report }: AuthorizationOptions): Authorization {
  const index = new RoleIndex(source);
  const rbac = new RbacAuthorizer(index);
  const graph = modes.includes(NODE_MODE) ? new NodeGraph(source) : undefined;
  const known: Readonly<Record<string, Authorizer & RuleResolver>> = {
    AlwaysAllow: alwaysAllow,
    AlwaysDeny: alwaysDeny,
    RBAC: rbac,
    ...(graph && { [NODE_MODE]: new NodeAuthorizer(graph, bootstrapRules("system:node")) }),
  };
  requireDifferent(modes);
  const chain = modes.map((mode) => ({
    name: mode.toLowerCase(),
    authorizer: getMember(known, mode) ?? refuseMode(mode),
  }));
  const authorizer = new AuthorizerChain(chain);
  const forever = new AbortController().signal;
  return {
    authorizer,
    roles: roleRights(authorizer, rbac, () => index.loaded(forever)),
    grants: index,
    loaded: (signal) => index.loaded(signal),
    async run(signal) {
      while (!signal.aborted) {
        try {
          await runTogether([index, ...(graph ? [graph] : [])], signal);
        } catch (error) {
          if (signal.aborted) return;
          report(error);
          await clock.sleep(RETRY_MS, signal).catch(() => undefined);
        }
      }
    },
  };
}

/** Runs both until the signal aborts, or one of them fails. */
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

/** Compat: `NewDefaultRuleResolver` of the registry reads what is stored at that moment, not what an informer has seen. */
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

/** Compat: the texts of `BuiltInAuthorizationOptions.Validate`. */
function requireDifferent(modes: readonly string[]): void {
  if (modes.length === 0) throw new Error("at least one authorization-mode must be passed");
  const twice = modes.find((mode, index) => modes.indexOf(mode) !== index);
  if (twice !== undefined) {
    throw new Error(`authorization-mode [${modes.map(quote).join(" ")}] has mode specified more than once`);
  }
}

function refuseMode(mode: string): never {
  if (mode === "ABAC") {
    throw new Error("authorization-mode ABAC is not supported: express its policies as roles and use RBAC");
  }
  if (mode === "Webhook") throw new Error("authorization-mode Webhook is not supported yet");
  throw new Error(`authorization-mode ${quote(mode)} is not a valid mode`);
}
