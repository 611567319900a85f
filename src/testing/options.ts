import type { Log } from "../lib/environment.ts";
import type { Config } from "../server/config.ts";
import { checkOptions, OptionsError } from "../server/library/check-options.ts";
import { completeConfig, type ServerOptions } from "../server/library/options.ts";
import type { Manifests } from "./apply.ts";
import type { ClockState } from "./clock.ts";

/** Options of servers that mean nothing where there is no file, no other store and no port to choose. */
type Unmeant =
  | "store"
  | "certDir"
  | "securePort"
  | "insecurePort"
  | "bindAddress"
  | "log"
  | "clock"
  | "random"
  | "controllers"
  | "kinds";

/** How a control plane of a test is to be. */
export interface ControlPlaneOptions {
  /** CustomResourceDefinitions, applied first. */
  readonly crds?: Manifests;
  /** Objects that are there from the start. */
  readonly manifests?: Manifests;
  /** Kinds that `defineKind` made. */
  readonly kinds?: ServerOptions["kinds"];
  /** Which loops of a controller manager run: `*` (the default), `none` or names, as `--controllers`. */
  readonly controllers?: string;
  /**
   * Names, uids and whatever else is left to chance are the same for the same seed, and requests wait until the server's own
   * loops have come to rest. Absent: another seed each time.
   */
  readonly seed?: number;
  /** Absent: the clock runs, from now on. With `at` it begins then, and stands still unless it is told to run. */
  readonly clock?: { readonly at?: string | number | Date; readonly running?: boolean };
  /** Further options of the server. */
  readonly config?: Omit<ServerOptions, Unmeant>;
  /** Hears what happens. Absent: nobody does. */
  readonly log?: Log;
}

const KNOWN: Readonly<Record<keyof ControlPlaneOptions, true>> = {
  ...{ kinds: true, crds: true, manifests: true, controllers: true, seed: true, clock: true, config: true, log: true },
};

/** Throws an OptionsError that says what is wrong. */
export function checkPlaneOptions(options: ControlPlaneOptions): void {
  if (typeof options !== "object" || options === null) throw new OptionsError(["expected an object of options"]);
  const unknown = Object.keys(options).filter((name) => !(name in KNOWN));
  const problems = unknown.map((name) => `${name}: there is no such option; options of the server stand in config`);
  const { seed, clock = {} } = options;
  if (seed !== undefined && !Number.isInteger(seed)) problems.push(`seed: expected a whole number, got ${seed}`);
  if (clock.at !== undefined && Number.isNaN(new Date(clock.at).getTime())) {
    problems.push(`clock.at: expected a time such as "2026-01-01T00:00:00Z", got ${JSON.stringify(clock.at)}`);
  }
  if (problems.length > 0) throw new OptionsError(problems);
  const { config = {}, kinds, controllers, log } = options;
  checkOptions({ ...config, kinds, controllers, log });
}

/** The configuration of the server behind a control plane. Kinds are those that are defined, as at kube-apiserver. */
export function configOf({ config = {}, kinds, controllers }: ControlPlaneOptions): Config {
  return completeConfig({ customObjects: "defined", shutdownGraceMs: 0, ...config, kinds, controllers });
}

/** The clock that a control plane begins with. */
export function clockOf({ clock = {} }: ControlPlaneOptions): ClockState {
  const { at, running = at === undefined } = clock;
  return { nowMs: at === undefined ? Date.now() : new Date(at).getTime(), isRunning: running };
}
