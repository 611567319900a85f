import type { ServedResource } from "../../../resources/model/catalog.ts";
import { AdmissionFunctions } from "../functions/functions-plugin.ts";
import { OwnFunctions } from "../functions/own-functions.ts";
import type { AdmissionConfig } from "../options.ts";
import { readAdmissionFile } from "./configuration-file.ts";
import { type DynamicAdmission, type DynamicAdmissionOptions, dynamicAdmission } from "./dynamic-admission.ts";
import { followManifests, type ManifestContext } from "./follow-manifests.ts";
import { ThreadedFunctions } from "./functions/threaded-functions.ts";
import type { WatchedFolder } from "./watched-folder.ts";

/** Everything that admission consists of while the server runs. */
export interface PreparedAdmission extends Pick<DynamicAdmission, "plugins" | "run" | "loaded"> {
  /**
   * Whether writes to a resource or its subresource may need something that other threads do not have: functions, or
   * webhooks of the configuration file. True if `resource` is undefined and there is such a thing.
   */
  readonly concernsOnlyThisThread: (resource: ServedResource | undefined, subresource: string) => boolean;
  /** Terminates the function threads, and stops watching folders. */
  close(): void;
}

/** Loads the configuration files, and creates all plugins that are configurable at run time. */
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
