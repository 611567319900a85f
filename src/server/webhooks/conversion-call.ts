import type { CallWebhook } from "../../custom/conversion-webhook.ts";
import type { WebhookPoster } from "./webhook-client.ts";

/** Compat: `defaultRequestTimeout` of webhooks. */
const TIMEOUT_MS = 30_000;
/** So many webhooks are called at the same time; the others wait. */
const MAX_CALLS = 50;

/** Calls conversion webhooks. */
export function conversionCall(client: WebhookPoster): CallWebhook {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (config, body) => {
    if (running >= MAX_CALLS) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await client.post({ config, body, timeoutMs: TIMEOUT_MS });
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
