import { readFile } from "node:fs/promises";
import type { Environment } from "../../lib/environment.ts";
import { printTime } from "../../resources/write/metadata.ts";
import type { Store } from "../../storage/store.ts";
import { type Config, defaultConfig } from "../config.ts";
import { keySpaceOf } from "../object-kinds.ts";

/** Objects that every server begins with, as they lie in the store: namespaces, roles, APIServices and what else says nothing of the server itself. */
export interface FirstObjects {
  /** Stands where the time belongs at which they were made. */
  readonly time: string;
  /** Stands where the uid of each belongs. */
  readonly uid: string;
  /** Keys below the store's root, with their values. */
  readonly objects: readonly (readonly [key: string, json: string])[];
}

/** Written beside the program when the package is built (`tools/first-objects.ts`). The sources have none. */
const FILE = new URL("./first-objects.json", import.meta.url);

/**
 * Puts the objects that a server would otherwise make by some 230 requests into an empty memory store. False: nothing was done,
 * because they are not known, or may be others with this configuration.
 */
export async function putFirstObjects(
  config: Config,
  store: Store,
  { clock, random }: Pick<Environment, "clock" | "random">,
): Promise<boolean> {
  if (!areUsual(config)) return false;
  const text = await readFile(FILE, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return false;
  const known = JSON.parse(text) as FirstObjects;
  const { root } = keySpaceOf(config);
  const now = printTime(clock.now());
  for (const [key, json] of known.objects) {
    const value = json.replaceAll(known.time, now).replace(known.uid, random.uuid());
    await store.put(root + key, Buffer.from(value), 0);
  }
  return true;
}

/** Whether requests would make the same objects: nobody is asked about them or writes them down, and no option changes them. */
function areUsual(config: Config): boolean {
  const { store, apiDomain, featureGates, admissionPlugins, admission, audit } = config;
  return (
    store.type === "memory" &&
    apiDomain === defaultConfig.apiDomain &&
    Object.keys(featureGates).length === 0 &&
    // None of those that are on by default changes these objects, so that it does not matter which are off.
    admissionPlugins.enabled.length === 0 &&
    admission.functions.length + admission.functionFiles.length === 0 &&
    admission.configFile === undefined &&
    audit.policyFile === undefined
  );
}
