import { AdmissionFunctions } from "../../admission/functions/functions-plugin.ts";
import type { AdmissionModule } from "../../admission/functions/module.ts";
import { OwnFunctions } from "../../admission/functions/own-functions.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { readAdmissionFile } from "./configuration-file.ts";
import { type DynamicAdmission, type DynamicAdmissionOptions, dynamicAdmission } from "./dynamic-admission.ts";
import { followManifests, type ManifestContext } from "./follow-manifests.ts";
import { ThreadedFunctions } from "./functions/threaded-functions.ts";
import type { WatchedFolder } from "./watched-folder.ts";

/** What changes or refuses writes besides the plugins. */
export interface AdmissionConfig {
  /** Functions of the program itself, which run in its own thread, in the order in which they are asked. */
  readonly functions: readonly AdmissionModule[];
  /** Files with functions of admission, which come after those, in their order. */
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
  { functions: own, functionFiles, configFile }: AdmissionConfig,
  options: Omit<DynamicAdmissionOptions, "file"> & Pick<ManifestContext, "manifests">,
): Promise<PreparedAdmission> {
  const { clock, catalog, features } = options.resources;
  const file = configFile === undefined ? undefined : await readAdmissionFile(configFile);
  const dynamic = dynamicAdmission({ ...options, file });
  const threads: ThreadedFunctions[] = [];
  const folders: WatchedFolder[] = [];
  const close = () => {
    for (const one of [...threads, ...folders]) one.close();
  };
  try {
    for (const one of await followManifests(file ?? {}, dynamic.sources, options)) folders.push(one);
    for (const file of functionFiles) threads.push(await ThreadedFunctions.load(file, clock));
  } catch (error) {
    close();
    throw error;
  }
  const hosts = [...own.map((module, index) => new OwnFunctions(module, `functions[${index}]`, clock)), ...threads];
  const functions = new AdmissionFunctions(hosts, { catalog, defaults: { clock, features } });
  const here = [...(file === undefined ? [] : [dynamic]), ...(hosts.length === 0 ? [] : [functions])];
  return {
    ...dynamic,
    plugins: hosts.length === 0 ? dynamic.plugins : [functions.plugin, ...dynamic.plugins],
    concernsOnlyThisThread: (resource, subresource) =>
      here.some((one) => resource === undefined || one.concerns(resource, subresource)),
    close,
  };
}
