import type { Command } from "commander";
import { completeFlags, conflictsIn } from "../../../base/options/configuration.ts";
import { type GivenOf, option, type Section } from "../../../base/options/option.ts";
import { count } from "../../../base/options/value-types.ts";
import type { Config } from "../../server/config.ts";
import { serverOptions, serverSections } from "../../server/options.ts";
import { addFlags } from "./declared-flags.ts";
import { storeOf } from "./store-flags.ts";

/** The values of a server's flags. */
export type ServeFlags = GivenOf<typeof serverOptions>;

/** Adds every flag of a server. */
export function addServeFlags(command: Command, sections: readonly Section[] = serverSections): void {
  for (const { heading, options } of sections) addFlags(command.optionsGroup(`${heading}:`), options);
}

/** The values with which a server simulates a cluster. */
export function simulatedCluster(nodes: number): ServeFlags {
  return { controllers: "*", scheduler: true, simulatedNodes: nodes };
}

/** The flag of commands that simulate a cluster. */
export const nodesFlag = (shownDefault?: string) => ({
  nodes: option("nodes", count, "number of simulated nodes; Pods run on them without containers", { shownDefault }),
});

/** The configuration that the flags describe. Throws if they contradict each other. */
export async function configOf(flags: ServeFlags): Promise<Config> {
  const [conflict] = conflictsIn(serverOptions, flags);
  if (conflict !== undefined) throw new Error(conflict);
  const { kindFiles = [], logLevel } = flags;
  const kinds =
    kindFiles.length === 0 ? undefined : await (await import("../../library/load-kinds.ts")).loadKinds(kindFiles);
  const logRequests = logLevel === "debug";
  return completeFlags(serverOptions, { ...flags, kinds, logRequests, store: storeOf(flags) });
}
