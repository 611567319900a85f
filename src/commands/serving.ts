import type { Config, StoreChoice } from "../server/config.ts";
import type { Server } from "../server/server.ts";
import type { LogOptions } from "../server/system-environment.ts";
import { explainStart } from "./start/explain-start.ts";

/** What a server that runs in this process is told and tells. */
export interface ServingOptions {
  readonly config: Config;
  /** JSON on standard error unless told. */
  readonly log?: LogOptions;
  /** Called once it is ready. */
  ready(server: Server): Promise<void> | void;
  /** Called when it is told to stop. */
  stopping?(signal: string): void;
  /** Ends it as a signal would. */
  readonly stop?: AbortSignal;
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Serves until a signal comes, and ends politely. A second signal ends the process at once. */
export async function serveUntilStopped(options: ServingOptions): Promise<void> {
  const [{ startServer }, { systemEnvironment, tellLastError }] = await Promise.all([
    import("../server/server.ts"),
    import("../server/system-environment.ts"),
  ]);
  const environment = systemEnvironment(options.log);
  const die = (error: unknown): void => {
    tellLastError(environment.log, error);
    process.exit(1);
  };
  process.once("uncaughtException", die);
  // Ready servers are known to be ended politely, so the signals are heard before the first answer.
  using signals = stopSignals(options.stop);
  try {
    const server = await startServer(options.config, environment).catch(async (error: unknown) => {
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

/** Hears the first signal to stop. Compat: the second one ends the process at once, as `SetupSignalHandler` does. */
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

/** Where a server keeps its objects, in words. */
export function describeStore(store: StoreChoice): string {
  if (store.type === "memory") return "memory, which is gone when this process ends";
  return store.type === "sqlite" ? store.file : `etcd at ${store.servers.join(", ")}`;
}
