import type { LogOptions } from "../../../base/log/system-environment.ts";
import type { StoreChoice } from "../../../storage/options.ts";
import type { Config } from "../../server/config.ts";
import type { ServerWithParts } from "../../server/server.ts";
import { explainStart } from "../start/explain-start.ts";

/** Options and callbacks of a server in this process. */
export interface ServingOptions {
  readonly config: Config;
  /** Default: JSON lines on standard error. */
  readonly log?: LogOptions;
  /** Called when the server is ready. */
  ready(server: ServerWithParts): Promise<void> | void;
  /** Called when the server begins to stop. */
  stopping?(signal: string): void;
  /** Stops the server as a signal would. */
  readonly stop?: AbortSignal;
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Serves until a signal arrives, then shuts down gracefully. A second signal ends the process immediately. */
export async function serveUntilStopped(options: ServingOptions): Promise<void> {
  const [{ startWithParts }, { systemEnvironment, logFatalError }] = await Promise.all([
    import("../../server/server.ts"),
    import("../../../base/log/system-environment.ts"),
  ]);
  const environment = systemEnvironment(options.log);
  const die = (error: unknown): void => {
    logFatalError(environment.log, error);
    process.exit(1);
  };
  process.once("uncaughtException", die);
  // Signals are handled before the server is ready, so that a ready server always shuts down gracefully.
  using signals = stopSignals(options.stop);
  try {
    const server = await startWithParts(options.config, environment).catch(async (error: unknown) => {
      throw await explainStart(error, options.config);
    });
    try {
      await options.ready(server);
      const signal = await signals.stopped;
      options.stopping?.(signal);
    } finally {
      await server.close();
    }
  } finally {
    process.off("uncaughtException", die);
  }
}

/** Waits for the first stop signal. Compat: `SetupSignalHandler`: the second one ends the process immediately. */
function stopSignals(other?: AbortSignal): Disposable & { readonly stopped: Promise<string> } {
  const { promise: stopped, resolve } = Promise.withResolvers<string>();
  let isStopping = false;
  const stop = (signal: string): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    resolve(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  other?.addEventListener("abort", () => resolve("abort"), { once: true });
  return {
    stopped,
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
    },
  };
}

/** Describes where a server stores its objects. */
export function describeStore(store: StoreChoice): string {
  if (store.type === "memory") return "memory and lost on exit";
  return store.type === "sqlite" ? store.file : `etcd at ${store.servers.join(", ")}`;
}
