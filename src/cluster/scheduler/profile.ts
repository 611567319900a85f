import type { Pod } from "../../kinds/types/workloads.ts";
import { DEFAULT_PLUGINS } from "./default-plugins.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Plugin, PluginContext, PluginFilter, Scorer } from "./plugin.ts";
import type { PodInfo } from "./pod-info.ts";

/** A plugin with the factor of its scores. */
export interface WeightedPlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** The plugins for Pods of one `schedulerName`. */
export class Profile {
  readonly schedulerName: string;
  readonly plugins: readonly WeightedPlugin[];
  /** Which part of all nodes is enough to choose from, in percent. 0: depends on the number of nodes. */
  readonly percentageOfNodesToScore: number;

  constructor(schedulerName: string, plugins: readonly WeightedPlugin[], percentageOfNodesToScore = 0) {
    this.schedulerName = schedulerName;
    this.plugins = plugins;
    this.percentageOfNodesToScore = percentageOfNodesToScore;
  }

  /** Why a Pod must not be scheduled yet, and by which plugin. */
  gate(pod: Pod): string | undefined {
    return this.plugins.find(({ plugin }) => plugin.preEnqueue?.(pod) !== undefined)?.plugin.name;
  }

  /** What each plugin requires for the Pod. Ends with the first that rejects all nodes. */
  filters(pod: PodInfo): PluginFilter[] {
    const found: PluginFilter[] = [];
    for (const { plugin } of this.plugins) {
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
    for (const { plugin, weight } of this.plugins) {
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

/** Prefixes the message of an error. */
export function attempt<T>(call: () => T, what: string): T {
  try {
    return call();
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The profile that kube-scheduler has without a configuration. */
export function defaultProfile(context: PluginContext): Profile {
  const plugins = DEFAULT_PLUGINS.map(({ make, weight = 0, args = {} }) => ({
    plugin: make(context, args as never),
    weight,
  }));
  return new Profile("default-scheduler", plugins);
}
