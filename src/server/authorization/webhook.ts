import type { WebhookConfiguration } from "../../auth/authorization/configuration.ts";
import { matchConditions } from "../../auth/authorization/match-conditions.ts";
import { accessReviewWebhook, WebhookAuthorizer } from "../../auth/authorization/webhook-authorizer.ts";
import type { AttemptResult } from "../../auth/review-webhook.ts";
import { JsonClient } from "../../client/json-client.ts";
import { readKubeconfig } from "../../client/kubeconfig-read.ts";
import type { Environment } from "../../lib/environment.ts";

/** Hears what becomes of questions to webhooks. */
export interface WebhookObserver {
  attempted(name: string, result: AttemptResult, seconds: number): void;
  /** Nobody was asked, and the next authorizer decides. */
  failedOpen(name: string, result: AttemptResult): void;
}

/** An authorizer with connections of its own. */
export interface OpenedWebhook {
  readonly authorizer: WebhookAuthorizer;
  close(): void;
}

const MAX_BYTES = 1024 * 1024;

/** Prepares to ask a webhook. Rejects when its kubeconfig cannot be used. */
export async function openWebhook(
  name: string,
  configuration: WebhookConfiguration,
  { clock, random, log }: Pick<Environment, "clock" | "random" | "log">,
  observer: WebhookObserver,
): Promise<OpenedWebhook> {
  const { subjectAccessReviewVersion: version, timeoutMs, failurePolicy, connectionInfo } = configuration;
  const client = new JsonClient(await readKubeconfig(connectionInfo.kubeConfigFile ?? ""), clock);
  const webhook = accessReviewWebhook(version, {
    post: (review) => client.post(review, { timeoutMs, maxBytes: MAX_BYTES }),
    clock,
    random,
    attempted: (result, seconds) => observer.attempted(name, result, seconds),
  });
  const onFailure = failurePolicy === "Deny" ? "deny" : "noOpinion";
  const authorizer = new WebhookAuthorizer({
    webhook,
    version,
    authorizedMs: configuration.cacheAuthorizedRequests ? configuration.authorizedMs : 0,
    unauthorizedMs: configuration.cacheUnauthorizedRequests ? configuration.unauthorizedMs : 0,
    ...(configuration.matchConditions.length > 0 && { conditions: matchConditions(configuration.matchConditions) }),
    onFailure,
    clock,
    failed(error, result) {
      log.error("Failed to make webhook authorizer request", { authorizer: name, reason: error.message });
      if (onFailure === "noOpinion") observer.failedOpen(name, result);
    },
  });
  return { authorizer, close: () => client.close() };
}
