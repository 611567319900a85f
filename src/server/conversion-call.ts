import type { Json } from "../api/object.ts";
import { HttpClient } from "../client/http-client.ts";
import { transportError } from "../client/transport-error.ts";
import type { CallWebhook } from "../custom/conversion-webhook.ts";
import { webhookTarget } from "../custom/webhook-target.ts";
import { parseJson } from "../encoding/json/json.ts";
import { quote } from "../lib/go/quote.ts";
import type { Resources } from "../resources/resources.ts";

/** Compat: `defaultRequestTimeout` of webhooks. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** So many webhooks are called at the same time; the others wait. */
const MAX_CALLS = 50;

/**
 * Calls conversion webhooks: at a URL, or where `webhookTarget` says.
 */
export function conversionCall(resources: Resources): CallWebhook {
  const client = new HttpClient(resources);
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (config, body) => {
    if (running >= MAX_CALLS) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      const { url, shown, serverName } = await webhookTarget(resources, config);
      const ca = config.caBundle ? Buffer.from(config.caBundle, "base64").toString() : undefined;
      const tls = { ...(ca?.trim() && { ca }), ...(serverName !== undefined && { servername: serverName }) };
      const headers = { accept: "application/json", "content-type": "application/json" };
      const request = { method: "POST", headers, body, tls, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES } as const;
      const answer = await client.send(new URL(url), request).catch((error: unknown) => {
        throw new Error(`Post ${quote(`${shown}?timeout=30s`)}: ${transportError(error)}`);
      });
      return readAnswer(answer.status, answer.body);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

function readAnswer(status: number, body: Buffer): Json {
  if (status < 200 || status > 206) {
    throw new Error(refusalOf(status));
  }
  return parseJson(body);
}

function refusalOf(status: number): string {
  if (status === 404) return "the server could not find the requested resource";
  return `an error on the server (${quote("unknown")}) has prevented the request from succeeding`;
}
