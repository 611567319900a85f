import { readFile } from "node:fs/promises";
import type { Environment } from "../../../base/util/environment.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { Store } from "../../../storage/store.ts";
import { type Config, defaultConfig } from "../config.ts";
import { keySpaceOf } from "../object-kinds.ts";

/** Stored objects that are the same in every new cluster: namespaces, roles, APIServices and others. */
export interface FirstObjects {
  /** Placeholder of the creation time. */
  readonly time: string;
  /** Placeholder of the uid. */
  readonly uid: string;
  /** Keys without the root of the store, and values. */
  readonly objects: readonly (readonly [key: string, json: string])[];
}

/** Written when the package is built (`tools/first-objects.ts`). The sources have no such file. */
const FILE = new URL("./first-objects.json", import.meta.url);

/**
 * Writes the objects that a server would otherwise create with some 230 requests into an empty memory store. Returns false if it did
 * nothing, because there is no file or the configuration changes the objects.
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

/** Whether requests would create the same objects: no admission, audit or other option affects them. */
function areUsual(config: Config): boolean {
  const { store, apiDomain, featureGates, admissionPlugins, admission, audit } = config;
  return (
    store.type === "memory" &&
    apiDomain === defaultConfig.apiDomain &&
    Object.keys(featureGates).length === 0 &&
    // No default plugin changes these objects, so disabled plugins do not matter.
    admissionPlugins.enabled.length === 0 &&
    admission.functions.length + admission.functionFiles.length === 0 &&
    admission.configFile === undefined &&
    audit.policyFile === undefined
  );
}
