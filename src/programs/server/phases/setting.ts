import type { Handler } from "../../../base/api/call.ts";
import { carefulLog } from "../../../base/log/careful-log.ts";
import { limitedLog } from "../../../base/log/limited-log.ts";
import { MetricRegistry } from "../../../base/metrics/metrics.ts";
import type { Environment, Log } from "../../../base/util/environment.ts";
import { Late } from "../../../base/util/late.ts";
import { SimulatedKubelets } from "../../../cluster/nodes/connect/simulated-kubelets.ts";
import type { RoleRights } from "../../../kinds/types/role-rights.ts";
import type { LoopbackClients } from "../../../serving/pipeline/loopback.ts";
import type { GivenParts } from "../../library/given-parts.ts";
import type { Config } from "../config.ts";

/** What every phase of the assembly works with. */
export interface Setting {
  readonly config: Config;
  readonly environment: Environment;
  readonly given: GivenParts;
  /** Closes the parts in reverse order. */
  readonly opened: AsyncDisposableStack;
  /** Rate-limited log that still contains what clients sent. Only threads write to it. */
  readonly lines: Log;
  /** The same without what clients sent. */
  readonly log: Log;
  readonly registries: { readonly "/metrics": MetricRegistry; readonly "/metrics/slis": MetricRegistry };
  /** The port under which clients reach the server. The configured one until the server listens. */
  readonly address: { port: number };
  /** When the server started, in milliseconds since the epoch. */
  readonly startMs: number;
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortController;
  /** Parts that earlier phases refer to and later ones build. */
  readonly late: {
    /** Permissions of users who write roles. Set by the access phase. */
    readonly roles: Late<RoleRights>;
    /** The pipeline for calls of this process. Set by the serving phase. */
    readonly inProcess: Late<Handler>;
    /** Clients of the controllers. Set by the serving phase. */
    readonly clients: Late<LoopbackClients>;
  };
  /** Answers for the kubelets of simulated nodes. */
  readonly kubelets: SimulatedKubelets;
}

/** The setting of an assembly that begins. */
export function newSetting(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Setting {
  const lines = limitedLog(environment.log, environment.clock);
  return {
    config,
    environment,
    given,
    opened,
    lines,
    log: carefulLog(lines),
    registries: { "/metrics": new MetricRegistry(), "/metrics/slis": new MetricRegistry() },
    address: { port: config.securePort },
    startMs: environment.clock.now(),
    stopping: new AbortController(),
    late: {
      roles: new Late("the permissions of role writers"),
      inProcess: new Late("the pipeline of this process"),
      clients: new Late("the clients of controllers"),
    },
    kubelets: new SimulatedKubelets(environment.clock),
  };
}
