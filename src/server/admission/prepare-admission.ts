import { AdmissionFunctions } from "../../admission/functions/functions-plugin.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { readAdmissionFile } from "./configuration-file.ts";
import { type DynamicAdmission, type DynamicAdmissionOptions, dynamicAdmission } from "./dynamic-admission.ts";
import { ThreadedFunctions } from "./functions/threaded-functions.ts";

/** What changes or refuses writes besides the plugins. */
export interface AdmissionConfig {
  /** Files with functions of admission, in the order in which they are asked. */
  readonly functionFiles: readonly string[];
  /** An AdmissionConfiguration, as kube-apiserver's flag names one. */
  readonly configFile?: string;
}

/** What admission is made of, for as long as the server runs. */
export interface PreparedAdmission extends Pick<DynamicAdmission, "plugins" | "run" | "loaded"> {
  /**
   * Whether a write to a resource or its subresource may have to be shown to what other threads do not have: functions, or
   * webhooks with what the configuration file says. Undefined: nothing is known of the resource yet.
   */
  readonly concernsOnlyThisThread: (resource: ServedResource | undefined, subresource: string) => boolean;
  /** Ends the threads of functions. */
  close(): void;
}

/** Loads the files of the configuration, and makes all plugins whose rules are no part of the program. */
export async function prepareAdmission(
  { functionFiles, configFile }: AdmissionConfig,
  options: Omit<DynamicAdmissionOptions, "file">,
): Promise<PreparedAdmission> {
  const { clock, catalog, features } = options.resources;
  const file = configFile === undefined ? undefined : await readAdmissionFile(configFile, options.resources);
  const hosts: ThreadedFunctions[] = [];
  const close = () => {
    for (const host of hosts) host.close();
  };
  try {
    for (const file of functionFiles) hosts.push(await ThreadedFunctions.load(file, clock));
  } catch (error) {
    close();
    throw error;
  }
  const functions = new AdmissionFunctions(hosts, { catalog, defaults: { clock, features } });
  const dynamic = dynamicAdmission({ ...options, file });
  const own = [...(file === undefined ? [] : [dynamic]), ...(hosts.length === 0 ? [] : [functions])];
  return {
    ...dynamic,
    plugins: hosts.length === 0 ? dynamic.plugins : [functions.plugin, ...dynamic.plugins],
    concernsOnlyThisThread: (resource, subresource) =>
      own.some((one) => resource === undefined || one.concerns(resource, subresource)),
    close,
  };
}
