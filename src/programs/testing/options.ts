import type { Log } from "../../base/util/environment.ts";
import type { Manifests } from "../library/apply.ts";
import { checkOptions, completeConfig, OptionsError, type ServerOptions } from "../library/options.ts";
import type { Config } from "../server/config.ts";
import type { ClockState } from "./clock.ts";

/** Server options that do not apply: a test control plane has no files, one kind of store and a random port. */
type UnsupportedOption =
  | "store"
  | "certDir"
  | "securePort"
  | "insecurePort"
  | "bindAddress"
  | "log"
  | "clock"
  | "random"
  | "controllers"
  | "kinds"
  | "scheduler"
  | "simulatedNodes"
  | "simulatedNodeCapacity"
  | "simulatedNodeLeaseSeconds";

/** The simulated cluster behind a control plane. */
export interface SimulatedClusterOptions {
  /** Number of nodes: node-1, node-2 and so on. Default: 1. */
  readonly nodes?: number;
  /** Capacity of each node, such as `{ cpu: "4", memory: "16Gi", pods: "110" }`. */
  readonly capacity?: Readonly<Record<string, string>>;
  /**
   * Duration of the Lease of each node, which it renews after a quarter of it. Default: 40, as with a kubelet. Up to 160 nodes stay
   * ready; a long time with many nodes passes faster.
   */
  readonly leaseSeconds?: number;
}

/** Options of a test control plane. */
export interface ControlPlaneOptions {
  /** CustomResourceDefinitions, applied before `manifests`. */
  readonly crds?: Manifests;
  /** Objects to apply at the start. */
  readonly manifests?: Manifests;
  /** Kinds created by `defineKind`. */
  readonly kinds?: ServerOptions["kinds"];
  /** Which built-in controllers run: `*`, `none` or names, as in `--controllers`. Default: those that the API itself needs. */
  readonly controllers?: string;
  /**
   * Seed of all randomness: names, uids and other random values are the same for the same seed. Requests then wait
   * until the built-in controllers are idle. If omitted, a random seed.
   */
  readonly seed?: number;
  /** If omitted, the clock runs and starts now. With `at` it starts then, and is stopped unless `running` is true. */
  readonly clock?: { readonly at?: string | number | Date; readonly running?: boolean };
  /** Runs the scheduler, all controllers and simulated nodes. `true`: one node. If omitted, Pods stay Pending. */
  readonly cluster?: boolean | SimulatedClusterOptions;
  /** More server options. */
  readonly config?: Omit<ServerOptions, UnsupportedOption>;
  /** Logger. If omitted, nothing is logged. */
  readonly log?: Log;
}

const KNOWN: Readonly<Record<keyof ControlPlaneOptions, true>> = {
  ...{ kinds: true, crds: true, manifests: true, controllers: true, seed: true, clock: true, config: true, log: true },
  cluster: true,
};

/** Throws an OptionsError that lists all problems. */
export function checkPlaneOptions(options: ControlPlaneOptions): void {
  if (typeof options !== "object" || options === null) throw new OptionsError(["expected an object of options"]);
  const unknown = Object.keys(options).filter((name) => !(name in KNOWN));
  const problems = unknown.map((name) => `${name}: unknown option; server options belong in config`);
  const { seed, clock = {} } = options;
  if (seed !== undefined && !Number.isInteger(seed)) problems.push(`seed: expected an integer, got ${seed}`);
  if (clock.at !== undefined && Number.isNaN(new Date(clock.at).getTime())) {
    problems.push(`clock.at: expected a time such as "2026-01-01T00:00:00Z", got ${JSON.stringify(clock.at)}`);
  }
  if (problems.length > 0) throw new OptionsError(problems);
  const { config = {}, kinds, controllers, log } = options;
  checkOptions({ ...config, kinds, controllers, log, ...clusterOf(options) });
}

/** The server options of a simulated cluster. All controllers run, unless the test selects some. */
function clusterOf({ cluster = false }: ControlPlaneOptions): ServerOptions {
  if (cluster === false) return {};
  const { nodes = 1, capacity, leaseSeconds } = cluster === true ? {} : cluster;
  return {
    ...{ scheduler: true, simulatedNodes: nodes },
    ...(capacity && { simulatedNodeCapacity: capacity }),
    ...(leaseSeconds && { simulatedNodeLeaseSeconds: leaseSeconds }),
  };
}

/**
 * The server configuration of a control plane. Custom objects need a definition, as in kube-apiserver. Advancing the clock by
 * hours ends no watches: clients would wait in real time before they watch again.
 */
export function configOf(options: ControlPlaneOptions): Config {
  const { config = {}, kinds, controllers = options.cluster ? "*" : undefined } = options;
  const defaults = { customObjects: "defined", shutdownGraceMs: 0, minRequestTimeout: 0 } as const;
  return completeConfig({ ...defaults, ...config, kinds, controllers, ...clusterOf(options) });
}

/** The initial clock of a control plane. */
export function clockOf({ clock = {} }: ControlPlaneOptions): ClockState {
  const { at, running = at === undefined } = clock;
  return { nowMs: at === undefined ? Date.now() : new Date(at).getTime(), isRunning: running };
}
