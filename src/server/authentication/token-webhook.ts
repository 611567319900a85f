import type { Authenticator } from "../../auth/authenticator.ts";
import { TokenCache } from "../../auth/token-cache.ts";
import { TokenWebhook } from "../../auth/token-webhook.ts";
import { JsonClient } from "../../client/json-client.ts";
import { readKubeconfig } from "../../client/kubeconfig-read.ts";
import type { Environment } from "../../lib/environment.ts";
import type { AuthenticationConfig } from "./config.ts";

/** Compat: `defaultRequestTimeout` of webhooks. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** Who is asked about tokens that nobody else knows. Undefined: nobody. Rejects when the kubeconfig cannot be used. */
export async function prepareTokenWebhook(
  { webhook }: AuthenticationConfig,
  audiences: readonly string[],
  { clock, random }: Environment,
): Promise<{ authenticator: Authenticator; close(): void } | undefined> {
  if (webhook === undefined) return undefined;
  const { configFile, version, cacheMs } = webhook;
  const client = new JsonClient(await readKubeconfig(configFile), clock);
  const post = (review: string) => client.post(review, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const authenticator = new TokenWebhook({ post, version, audiences, clock, random });
  return {
    authenticator: new TokenCache(authenticator, { clock, successMs: cacheMs, failureMs: cacheMs }),
    close: () => client.close(),
  };
}
