import { AdmissionFunctions } from "../../admission/functions/functions-plugin.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { readAdmissionFile } from "./configuration-file.ts";
import { type DynamicAdmission, type DynamicAdmissionOptions, dynamicAdmission } from "./dynamic-admission.ts";
import { followManifests, type ManifestContext } from "./follow-manifests.ts";
import { ThreadedFunctions } from "./functions/threaded-functions.ts";
import type { WatchedFolder } from "./watched-folder.ts";

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
  options: Omit<DynamicAdmissionOptions, "file"> & Pick<ManifestContext, "manifests">,
): Promise<PreparedAdmission> {
  const { clock, catalog, features } = options.resources;
  const file = configFile === undefined ? undefined : await readAdmissionFile(configFile);
  const dynamic = dynamicAdmission({ ...options, file });
  const hosts: ThreadedFunctions[] = [];
  const folders: WatchedFolder[] = [];
  const close = () => {
    for (const one of [...hosts, ...folders]) one.close();
  };
  try {
    for (const one of await followManifests(file ?? {}, dynamic.sources, options)) folders.push(one);
    for (const file of functionFiles) hosts.push(await ThreadedFunctions.load(file, clock));
  } catch (error) {
    close();
    throw error;
  }
  const functions = new AdmissionFunctions(hosts, { catalog, defaults: { clock, features } });
  const own = [...(file === undefined ? [] : [dynamic]), ...(hosts.length === 0 ? [] : [functions])];
  return {
    ...dynamic,
    plugins: hosts.length === 0 ? dynamic.plugins : [functions.plugin, ...dynamic.plugins],
    concernsOnlyThisThread: (resource, subresource) =>
      own.some((one) => resource === undefined || one.concerns(resource, subresource)),
    close,
  };
}
