import type { Pod } from "../../kinds/types/workloads.ts";
import { messageOf } from "../controllers/shared/controller.ts";
import type { ProfileConfiguration, SchedulerConfiguration } from "./configuration.ts";
import { DEFAULT_PLUGINS } from "./default-plugins.ts";
import { enabledPlugins } from "./enabled-plugins.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Plugin, PluginContext, PluginFilter, Scorer } from "./plugin.ts";
import type { PodInfo } from "./pod-info.ts";
import { UPSTREAM_PLUGINS } from "./upstream-plugins.ts";

/** A plugin with the factor of its scores. */
export interface WeightedPlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** Functions of plugins that a profile can enable one by one. */
export type ProfilePoint = "preEnqueue" | "filter" | "postFilter" | "score";

/** Options of a Profile. */
export interface ProfileOptions {
  /** Which part of all nodes is enough to choose from, in percent. 0: depends on the number of nodes. */
  readonly percentageOfNodesToScore?: number;
  /** The plugins of a function, in order. Absent: all. */
  readonly points?: Partial<Readonly<Record<ProfilePoint, readonly WeightedPlugin[]>>>;
}

/** The plugins for Pods of one `schedulerName`. */
export class Profile {
  readonly schedulerName: string;
  readonly plugins: readonly WeightedPlugin[];
  readonly percentageOfNodesToScore: number;
  readonly #points: NonNullable<ProfileOptions["points"]>;

  constructor(schedulerName: string, plugins: readonly WeightedPlugin[], options: ProfileOptions = {}) {
    this.schedulerName = schedulerName;
    this.plugins = plugins;
    this.percentageOfNodesToScore = options.percentageOfNodesToScore ?? 0;
    this.#points = options.points ?? {};
  }

  /** The plugins whose function is enabled, in order. */
  at(point: ProfilePoint): readonly WeightedPlugin[] {
    return this.#points[point] ?? this.plugins;
  }

  /** Why a Pod must not be scheduled yet, and by which plugin. */
  gate(pod: Pod): string | undefined {
    return this.at("preEnqueue").find(({ plugin }) => plugin.preEnqueue?.(pod) !== undefined)?.plugin.name;
  }

  /** What each plugin requires for the Pod. Ends with the first that rejects all nodes. */
  filters(pod: PodInfo): PluginFilter[] {
    const found: PluginFilter[] = [];
    for (const { plugin } of this.at("filter")) {
      const filter = attempt(() => plugin.filter?.(pod), `running PreFilter plugin ${JSON.stringify(plugin.name)}`);
      if (filter) found.push({ plugin, filter });
      if (filter?.rejection) break;
    }
    return found;
  }

  /** The weighted sum of the scores of each node. */
  scores(pod: PodInfo, nodes: readonly NodeInfo[], filters: readonly PluginFilter[]): number[] {
    const totals = new Array<number>(nodes.length).fill(0);
    const scores = new Array<number>(nodes.length).fill(0);
    for (const { plugin, weight } of this.at("score")) {
      const own = filters.find((one) => one.plugin === plugin)?.filter;
      const scorer = attempt(
        () => plugin.score?.(pod, nodes, own),
        `running PreScore plugin ${JSON.stringify(plugin.name)}`,
      );
      if (scorer === undefined) continue;
      scoreAll(scorer, nodes, scores);
      for (let index = 0; index < totals.length; index++) {
        totals[index] = (totals[index] ?? 0) + weight * (scores[index] ?? 0);
      }
    }
    return totals;
  }
}

function scoreAll(scorer: Scorer, nodes: readonly NodeInfo[], scores: number[]): void {
  for (let index = 0; index < nodes.length; index++) scores[index] = scorer.score(nodes[index] as NodeInfo);
  scorer.normalize?.(scores, nodes);
}

/** Prefixes the message of an error that the call throws. */
export function attempt<T>(call: () => T, what: string): T {
  try {
    return call();
  } catch (error) {
    throw explained(error, what);
  }
}

/** The error with a prefix that says what failed. */
export function explained(error: unknown, what: string): Error {
  return new Error(`${what}: ${messageOf(error)}`, { cause: error });
}

/** The upstream extension points that each function stands for. */
const UPSTREAM_POINTS: Readonly<Record<ProfilePoint, readonly string[]>> = {
  preEnqueue: ["preEnqueue"],
  filter: ["preFilter", "filter"],
  postFilter: ["postFilter"],
  score: ["preScore", "score"],
};

const OTHERS: ReadonlySet<string> = new Set(UPSTREAM_PLUGINS.map(({ name }) => name));

/** Throws an Error if a configuration names an unknown plugin. */
export function checkPlugins({ profiles }: SchedulerConfiguration): void {
  for (const profile of profiles) {
    for (const points of Object.values(UPSTREAM_POINTS)) enabledPlugins(profile, DEFAULT_PLUGINS, OTHERS, points);
  }
}

/** Creates the plugins of a profile. Throws an Error if the configuration names an unknown plugin. */
export function makeProfile(context: PluginContext, configuration: ProfileConfiguration): Profile {
  const { schedulerName, percentageOfNodesToScore, args: own } = configuration;
  const made = new Map<string, Plugin>();
  const pluginOf = (name: string): Plugin[] => {
    const found = DEFAULT_PLUGINS.find((one) => one.name === name);
    if (found === undefined) return [];
    const plugin = made.get(name) ?? found.make(context, { ...found.args, ...own.get(name) } as never);
    made.set(name, plugin);
    return [plugin];
  };
  const at = (point: ProfilePoint) =>
    enabledPlugins(configuration, DEFAULT_PLUGINS, OTHERS, UPSTREAM_POINTS[point]).flatMap(({ name, weight }) =>
      pluginOf(name).map((plugin) => ({ plugin, weight })),
    );
  const points = {
    preEnqueue: at("preEnqueue"),
    filter: at("filter"),
    postFilter: at("postFilter"),
    score: at("score"),
  };
  const all = [...made.values()].map((plugin) => ({ plugin, weight: 0 }));
  return new Profile(schedulerName, all, { percentageOfNodesToScore, points });
}
