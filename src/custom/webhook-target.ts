import { isObject } from "../api/object.ts";
import { quote } from "../lib/go/quote.ts";
import type { Resources } from "../resources/resources.ts";
import type { WebhookClientConfig } from "./conversion-webhook.ts";

/** Where a webhook is called, how errors name it, and for whom its certificate must be, where that is not the host. */
export interface WebhookTarget {
  readonly url: string;
  readonly shown: string;
  readonly serverName: string | undefined;
}

/**
 * Where the webhook of a clientConfig is: at its URL, or at the cluster IP of its Service, whose certificate is for
 * `<name>.<namespace>.svc`. Rejects when there is no such Service.
 */
export async function webhookTarget(
  { access }: Pick<Resources, "access">,
  { url = "", service }: WebhookClientConfig,
): Promise<WebhookTarget> {
  if (!service) return { url, shown: url, serverName: undefined };
  const { name = "", namespace = "", path = "", port = 443 } = service as Record<string, string | number>;
  const host = `${name}.${namespace}.svc`;
  const shown = `https://${host}:${port}${path}`;
  const key = { namespace: String(namespace), name: String(name) };
  const found = await access.find("", "services", key, "any");
  const { clusterIP: address } = isObject(found?.spec) ? found.spec : {};
  if (typeof address !== "string" || address === "" || address === "None") {
    throw new Error(`Post ${quote(`${shown}?timeout=30s`)}: service ${quote(String(name))} not found`);
  }
  const at = address.includes(":") ? `[${address}]` : address;
  return { url: `https://${at}:${port}${path}`, shown, serverName: host };
}
