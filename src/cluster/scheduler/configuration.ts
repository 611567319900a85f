import type { JsonObject } from "../../base/api/object.ts";
import {
  type ConfigurationKinds,
  listOf,
  readConfigurationFile,
  struct,
  TEXT,
} from "../../data/encoding/configuration-file.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { type Backoff, DEFAULT_BACKOFF } from "./queued-pod.ts";

/** The configuration of the scheduler. */
export interface SchedulerConfiguration {
  readonly profiles: readonly ProfileConfiguration[];
  readonly backoff: Backoff;
}

/** A profile: how Pods of one `schedulerName` are scheduled. */
export interface ProfileConfiguration {
  readonly schedulerName: string;
  /** 0: depends on the number of nodes. */
  readonly percentageOfNodesToScore: number;
  /** By extension point, as in `score`, or `multiPoint` for all of them. */
  readonly plugins: Readonly<Record<string, PluginSet | undefined>>;
  /** Arguments by the name of a plugin. */
  readonly args: ReadonlyMap<string, JsonObject>;
}

/** Plugins that a profile adds to the default ones, or removes from them. */
export interface PluginSet {
  readonly enabled?: readonly { readonly name: string; readonly weight?: number }[];
  /** The name `*` stands for all. */
  readonly disabled?: readonly { readonly name: string }[];
}

/** The extension points of kube-scheduler. */
const POINTS = [
  ...["multiPoint", "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score"],
  ...["reserve", "permit", "preBind", "bind", "postBind"],
  ...["placementGenerate", "placementScore", "podGroupPostFilter"],
];

const ANY: Schema = {};
const INTEGER: Schema = { type: "integer" };
const PLUGIN = struct("Plugin", { name: TEXT, weight: INTEGER });
const PLUGIN_SET = struct("PluginSet", { enabled: listOf(PLUGIN), disabled: listOf(PLUGIN) });
const PROFILE = struct("KubeSchedulerProfile", {
  schedulerName: TEXT,
  percentageOfNodesToScore: INTEGER,
  plugins: struct("Plugins", Object.fromEntries(POINTS.map((point) => [point, PLUGIN_SET]))),
  pluginConfig: listOf(struct("PluginConfig", { name: TEXT, args: ANY })),
});
const KINDS: ConfigurationKinds = {
  group: "kubescheduler.config.k8s.io",
  versions: ["v1"],
  schemas: new Map([
    [
      "KubeSchedulerConfiguration",
      struct("KubeSchedulerConfiguration", {
        ...{ kind: TEXT, apiVersion: TEXT, profiles: listOf(PROFILE), percentageOfNodesToScore: INTEGER },
        ...{ podInitialBackoffSeconds: INTEGER, podMaxBackoffSeconds: INTEGER, extenders: listOf(ANY) },
        // Of the program, not of its decisions. They have no effect.
        ...{ parallelism: INTEGER, leaderElection: ANY, clientConnection: ANY, enableProfiling: ANY },
        ...{ enableContentionProfiling: ANY, delayCacheUntilActive: ANY },
      }),
    ],
  ]),
};

interface Written {
  readonly profiles?: readonly WrittenProfile[];
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number;
  readonly podMaxBackoffSeconds?: number;
  readonly extenders?: readonly unknown[];
}

interface WrittenProfile {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: ProfileConfiguration["plugins"];
  readonly pluginConfig?: readonly { readonly name?: string; readonly args?: JsonObject }[];
}

/** What kube-scheduler does without a configuration. */
export const DEFAULT_CONFIGURATION: SchedulerConfiguration = completed({});

/** Reads a KubeSchedulerConfiguration, in JSON or YAML. Throws an Error that says what is wrong. */
export function readSchedulerConfiguration(text: string): SchedulerConfiguration {
  try {
    return completed(readConfigurationFile(text, KINDS).value as Written);
  } catch (error) {
    throw new Error(`loading the scheduler configuration failed: ${error instanceof Error ? error.message : error}`);
  }
}

/** Sets defaults and validates. */
function completed(written: Written): SchedulerConfiguration {
  const { profiles = [{}], percentageOfNodesToScore: percentage = 0, extenders = [] } = written;
  const backoff = {
    initialMs: (written.podInitialBackoffSeconds ?? DEFAULT_BACKOFF.initialMs / 1000) * 1000,
    maxMs: (written.podMaxBackoffSeconds ?? DEFAULT_BACKOFF.maxMs / 1000) * 1000,
  };
  if (extenders.length > 0) throw new Error("extenders are not supported");
  if (backoff.initialMs <= 0) throw new Error("podInitialBackoffSeconds: must be greater than 0");
  if (backoff.maxMs < backoff.initialMs) {
    throw new Error("podMaxBackoffSeconds: must be greater than or equal to PodInitialBackoffSeconds");
  }
  const completedProfiles = profiles.map((profile) => completedProfile(profile, percentage, profiles.length === 1));
  const names = completedProfiles.map(({ schedulerName }) => schedulerName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`profiles: two have the schedulerName ${JSON.stringify(twice)}`);
  return { profiles: completedProfiles, backoff };
}

function completedProfile(profile: WrittenProfile, percentage: number, isOnly: boolean): ProfileConfiguration {
  const { schedulerName = isOnly ? "default-scheduler" : "", plugins = {}, pluginConfig = [] } = profile;
  const { percentageOfNodesToScore = percentage } = profile;
  if (schedulerName === "") throw new Error("profiles: each needs a schedulerName");
  if (percentageOfNodesToScore < 0 || percentageOfNodesToScore > 100) {
    throw new Error("percentageOfNodesToScore: not in valid range [0-100]");
  }
  const args = new Map(pluginConfig.map(({ name = "", args: own = {} }) => [name, own]));
  return { schedulerName, percentageOfNodesToScore, plugins, args };
}
