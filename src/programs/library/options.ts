import { completeOptions, conflictsIn, problemsIn } from "../../base/options/configuration.ts";
import { libraryOption, type Members, type OptionsOf } from "../../base/options/option.ts";
import { functions, isRecord, programValue } from "../../base/options/value-types.ts";
import { type Clock, systemClock } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";
import { type Random, systemRandom } from "../../base/util/random.ts";
import type { Config } from "../server/config.ts";
import { serverOptions } from "../server/options.ts";

const log = functions<Log>("Log", ["error", "warn", "info"]);

/** Options of `startServer` that are not part of the configuration. */
export const libraryOptions = {
  log: libraryOption(
    programValue<Log | false>(
      "Log | false",
      `false, or ${log.expected}`,
      (value) => value === false || log.accepts(value),
    ),
    "logger; false disables logging; by default, JSON lines on standard error",
  ),
  clock: libraryOption(
    functions<Clock>("Clock", Object.keys(systemClock)),
    "clock; by default the system's; timeouts of sockets always use the system's",
  ),
  random: libraryOption(
    functions<Random>("Random", Object.keys(systemRandom)),
    "source of random names and UIDs; by default a cryptographic one; secrets never use it",
  ),
};

/** Any part of a server's configuration. Omitted options have the defaults of `binnacle serve`, except that the server listens on a free port and writes no files. */
export type ServerOptions = OptionsOf<typeof serverOptions & typeof libraryOptions>;

/** The whole configuration that options describe. An undefined option counts as omitted. */
export function completeConfig(options: Omit<ServerOptions, keyof typeof libraryOptions>): Config {
  return completeOptions(serverOptions, options);
}

/** Invalid options of a server. */
export class OptionsError extends Error {
  /** One line per problem. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? `invalid option ${problems[0]}` : `invalid options:\n  ${problems.join("\n  ")}`);
    this.name = "OptionsError";
    this.problems = problems;
  }
}

/** Throws an OptionsError that lists every unknown option and every invalid value. */
export function checkOptions(options: unknown, known: Members = { ...serverOptions, ...libraryOptions }): void {
  if (!isRecord(options)) throw new OptionsError([`${JSON.stringify(options)}: expected an object of options`]);
  const problems = problemsIn(known, options);
  const conflicts = problems.length > 0 ? [] : conflictsIn(known, options);
  if (problems.length + conflicts.length > 0) throw new OptionsError([...problems, ...conflicts]);
}
