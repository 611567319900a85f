import type { KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Webhook } from "../../../kinds/types/admission-registration.ts";
import type { Resources } from "../../../resources/resources.ts";
import { type CompiledWebhook, compileConfiguration } from "../webhooks/compiled-webhook.ts";
import { readStaticManifests } from "./static-manifests.ts";

/** Webhooks from manifests. */
export interface StaticWebhooks {
  readonly webhooks: readonly CompiledWebhook[];
  readonly hash: string;
}

/**
 * Reads the webhook configurations of a kind from a folder. Throws an Error that names the file. Upstream:
 * `LoadManifests`.
 */
export async function readStaticWebhooks(folder: string, kind: string, resources: Resources): Promise<StaticWebhooks> {
  const { objects, hash } = await readStaticManifests(folder, { kinds: [kind], problemOf }, resources);
  return { webhooks: objects.flatMap((object) => compileConfiguration(object, true)), hash };
}

function problemOf({ metadata, webhooks }: KubeObject, file: string): string | undefined {
  for (const { name = "", clientConfig } of (Array.isArray(webhooks) ? webhooks : []) as Webhook[]) {
    const by = `webhook ${quote(name)} in ${quote(metadata.name ?? "")} (file ${quote(file)})`;
    if (clientConfig?.service !== undefined) {
      return `${by}: clientConfig.service is not supported for static manifests; use clientConfig.url instead`;
    }
    if (!clientConfig?.url) return `${by}: clientConfig.url is required for static manifests`;
  }
  return undefined;
}
