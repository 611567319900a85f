import { KINDS_OF_PLUGINS } from "../../admission/webhooks/webhook-source.ts";
import type { Log } from "../../lib/environment.ts";
import { quote } from "../../lib/go/quote.ts";
import type { Resources } from "../../resources/resources.ts";
import type { ManifestObserver } from "../metrics/manifest-metrics.ts";
import type { AdmissionFile, ConfiguredPlugin } from "./configuration-file.ts";
import type { DynamicSources } from "./dynamic-admission.ts";
import { readStaticPolicies } from "./static-policies.ts";
import { readStaticWebhooks } from "./static-webhooks.ts";
import { WatchedFolder } from "./watched-folder.ts";

/** What manifests are read with. */
export interface ManifestContext {
  readonly resources: Resources;
  readonly log: Pick<Log, "error" | "info">;
  readonly manifests: ManifestObserver;
}

/**
 * Puts the policies and webhooks of all folders of manifests into force, and follows these: what has changed is read again,
 * and what cannot be read leaves in force what was. Throws when a folder cannot be read now.
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
        context.log.info("manifests of admission were read again", { plugin, folder });
        context.manifests.read(plugin, hash);
      };
      const failed = (error: unknown) => {
        const text = "manifests of admission cannot be read; what was read before stays in force";
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

/** Gives the hash of what was read. */
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
