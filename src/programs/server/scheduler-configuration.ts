import { readFile } from "node:fs/promises";
import {
  DEFAULT_CONFIGURATION,
  readSchedulerConfiguration,
  type SchedulerConfiguration,
} from "../../cluster/scheduler/configuration.ts";
import { checkPlugins } from "../../cluster/scheduler/profile.ts";

/** Reads the file of `--scheduler-config`. Throws an Error if it is invalid. */
export async function loadSchedulerConfiguration(file: string | undefined): Promise<SchedulerConfiguration> {
  if (file === undefined) return DEFAULT_CONFIGURATION;
  const configuration = readSchedulerConfiguration(await readFile(file, "utf8"));
  checkPlugins(configuration);
  return configuration;
}
