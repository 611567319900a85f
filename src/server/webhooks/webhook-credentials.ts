import { readKubeconfigUsers } from "../../client/kubeconfig-read.ts";
import type { WebhookCredentials } from "./webhook-client.ts";

const SECURE_PORT = 443;

/**
 * Credentials for webhooks by the names of users in a kubeconfig: `host:port`, `*.suffix:port`, and for port 443 the same
 * without a port. Upstream: `defaultAuthenticationInfoResolver`.
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
