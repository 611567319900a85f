import { quote } from "../../../base/go/quote.ts";
import type { Log } from "../../../base/util/environment.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { ManifestObserver } from "../metrics/manifest-metrics.ts";
import { KINDS_OF_PLUGINS } from "../webhooks/webhook-source.ts";
import type { AdmissionFile, ConfiguredPlugin } from "./configuration-file.ts";
import type { DynamicSources } from "./dynamic-admission.ts";
import { readStaticPolicies } from "./static-policies.ts";
import { readStaticWebhooks } from "./static-webhooks.ts";
import { WatchedFolder } from "./watched-folder.ts";

/** Options of `followManifests`. */
export interface ManifestContext {
  readonly resources: Resources;
  readonly log: Pick<Log, "error" | "info">;
  readonly manifests: ManifestObserver;
}

/**
 * Puts the policies and webhooks of all manifest folders into force, and watches the folders. A change is loaded; if
 * that fails, the previous manifests stay in force. Rejects if a folder cannot be read initially.
 */
export async function followManifests(
  file: AdmissionFile,
  sources: DynamicSources,
  context: ManifestContext,
): Promise<WatchedFolder[]> {
  const { clock } = context.resources;
  const folders: WatchedFolder[] = [];
  try {
    for (const [name, { manifests: folder }] of Object.entries(file)) {
      if (folder === undefined) continue;
      const plugin = name as ConfiguredPlugin;
      const seen = await WatchedFolder.stateOf(folder);
      let hash = await load(plugin, folder, sources, context.resources);
      context.manifests.read(plugin, hash);
      const changed = async () => {
        const next = await load(plugin, folder, sources, context.resources);
        if (next === hash) return;
        hash = next;
        context.log.info("reloaded admission manifests", { plugin, folder });
        context.manifests.read(plugin, hash);
      };
      const failed = (error: unknown) => {
        const text = "reloading admission manifests failed, keeping the previous ones";
        context.log.error(text, { err: error, plugin, folder });
        context.manifests.failed(plugin);
      };
      folders.push(new WatchedFolder({ folder, clock, changed, failed }, seen));
    }
  } catch (error) {
    for (const one of folders) one.close();
    throw error;
  }
  return folders;
}

/** Loads a folder. Returns the hash of its contents. */
async function load(
  plugin: ConfiguredPlugin,
  folder: string,
  sources: DynamicSources,
  resources: Resources,
): Promise<string> {
  try {
    switch (plugin) {
      case "MutatingAdmissionPolicy":
      case "ValidatingAdmissionPolicy": {
        const { policies, bindings, hash } = await readStaticPolicies(folder, plugin, resources);
        sources[plugin].setFixed(policies, bindings);
        return hash;
      }
      default: {
        const { webhooks, hash } = await readStaticWebhooks(folder, KINDS_OF_PLUGINS[plugin], resources);
        sources[plugin].setFixed(webhooks);
        return hash;
      }
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : "cannot be read";
    throw new Error(`failed to load static manifests of ${plugin} from ${quote(folder)}: ${text}`);
  }
}
