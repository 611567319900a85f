import {
  type AuditConfig,
  type AuditLogConfig,
  type AuditWebhookConfig,
  defaultAuditConfig,
} from "../../audit/options.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import type { Random } from "../../lib/random.ts";
import type { AuthenticationConfig } from "../authentication/config.ts";
import type { AuthorizationConfig } from "../authorization/config.ts";
import { type AccountTokenConfig, type Config, defaultConfig } from "../config.ts";
import type { ConnectConfig } from "../connect/config.ts";

/** Members of `Config` that are objects themselves, and of which a part will do. */
interface PartialGroups {
  readonly audit?: Partial<Pick<AuditConfig, "policyFile">> & {
    readonly log?: Partial<AuditLogConfig>;
    readonly webhook?: Partial<AuditWebhookConfig>;
  };
  readonly authentication?: Partial<AuthenticationConfig>;
  readonly authorization?: Partial<AuthorizationConfig>;
  readonly serviceAccounts?: Partial<AccountTokenConfig>;
  readonly connect?: Partial<ConnectConfig>;
  readonly admissionPlugins?: Partial<Config["admissionPlugins"]>;
  readonly admission?: Partial<Config["admission"]>;
}

/**
 * Any part of a server's configuration; the rest is as `serve` has it, but that the server listens on a free port and
 * writes no file.
 */
export interface ServerOptions extends PartialGroups, Partial<Omit<Config, keyof PartialGroups>> {
  /** Hears what happens. `false`: nobody does. Absent: lines of JSON go to standard error. */
  readonly log?: Log | false;
  /** Absent: the machine's. Only what times real sockets does not ask it. */
  readonly clock?: Clock;
  /** Absent: what nobody can guess. Secrets never come from it. */
  readonly random?: Random;
}

/** The whole configuration that options describe. What is undefined counts as left out. */
export function completeConfig(options: Omit<ServerOptions, "log" | "clock" | "random">): Config {
  const {
    audit = {},
    authentication,
    authorization,
    serviceAccounts,
    connect,
    admissionPlugins,
    admission,
    ...others
  } = options;
  const base = defaultConfig;
  return {
    ...base,
    securePort: 0,
    ...withoutUndefined(others),
    audit: {
      ...withoutUndefined({ policyFile: audit.policyFile }),
      log: { ...defaultAuditConfig.log, ...withoutUndefined(audit.log) },
      webhook: { ...defaultAuditConfig.webhook, ...withoutUndefined(audit.webhook) },
    },
    authentication: { ...base.authentication, ...withoutUndefined(authentication) },
    authorization: { ...base.authorization, ...withoutUndefined(authorization) },
    connect: { ...base.connect, ...withoutUndefined(connect) },
    serviceAccounts: { ...base.serviceAccounts, ...withoutUndefined(serviceAccounts) },
    admissionPlugins: { ...base.admissionPlugins, ...withoutUndefined(admissionPlugins) },
    admission: { ...base.admission, ...withoutUndefined(admission) },
  };
}

function withoutUndefined<T extends object>(value: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member !== undefined)) as Partial<T>;
}
