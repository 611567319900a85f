import { systemClock } from "../../lib/clock.ts";
import type { Environment, Log } from "../../lib/environment.ts";
import { systemRandom } from "../../lib/random.ts";
import { type Server, startWithParts } from "../server.ts";
import { checkOptions } from "./check-options.ts";
import { completeConfig, type ServerOptions } from "./options.ts";

/**
 * Starts a server in this process and resolves when it is ready. Options that are left out are as `binnacle serve` has them, except that it listens on
 * a free port of 127.0.0.1 (`securePort`), writes no file (`certDir`), and reads no flags. Rejects with an OptionsError
 * that names every wrong option; whatever was opened before another failure is closed again.
 */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  checkOptions(options);
  const { log, clock = systemClock, random = systemRandom, ...config } = options;
  const environment: Environment = { clock, random, log: await logOf(log) };
  const { resources: _, ready, ...server } = await startWithParts(completeConfig(config), environment);
  await ready;
  return server;
}

/** Says nothing. */
export const SILENCE: Log = { error() {}, warn() {}, info() {} };

async function logOf(log: Log | false | undefined): Promise<Log> {
  if (log === false) return SILENCE;
  if (log !== undefined) return log;
  const { systemEnvironment } = await import("../system-environment.ts");
  return systemEnvironment().log;
}
