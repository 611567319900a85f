import { JsonClient } from "../../../base/net/json-client.ts";
import type { Environment } from "../../../base/util/environment.ts";
import { readKubeconfig } from "../../../data/kubeconfig/kubeconfig-read.ts";
import type { Authenticator } from "../authenticator.ts";
import type { AuthenticationConfig } from "../options.ts";
import { TokenCache } from "../token-cache.ts";
import { TokenWebhook } from "../token-webhook.ts";

/** Compat: `defaultRequestTimeout` of webhooks. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Builds the webhook authenticator for tokens that no other authenticator recognises. Undefined if it is not
 * configured. Rejects if the kubeconfig cannot be used.
 */
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
