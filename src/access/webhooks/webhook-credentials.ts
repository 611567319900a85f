import { readKubeconfigUsers } from "../../data/kubeconfig/kubeconfig-read.ts";
import type { WebhookCredentials } from "./webhook-client.ts";

const SECURE_PORT = 443;

/**
 * Reads credentials for webhooks from a kubeconfig. Its user names are `host:port`, `*.suffix:port`, and for port 443
 * also the same without a port. Upstream: `defaultAuthenticationInfoResolver`.
 */
export async function readWebhookCredentials(file: string): Promise<WebhookCredentials> {
  const users = await readKubeconfigUsers(file);
  return (host, port) => {
    const names = [...namesOf(`${host}:${port}`), ...(port === SECURE_PORT ? namesOf(host) : []), "*"];
    const name = names.find((one) => users.has(one));
    return name === undefined ? undefined : users.get(name);
  };
}

function namesOf(target: string): string[] {
  const steps = target.split(".");
  return [target, ...steps.slice(1).map((_, index) => `*.${steps.slice(index + 1).join(".")}`)];
}
