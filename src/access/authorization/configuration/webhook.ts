import { JsonClient } from "../../../base/net/json-client.ts";
import type { Environment } from "../../../base/util/environment.ts";
import { readKubeconfig } from "../../../data/kubeconfig/kubeconfig-read.ts";
import type { AttemptResult } from "../../authentication/review-webhook.ts";
import type { WebhookConfiguration } from "../configuration.ts";
import { matchConditions } from "../match-conditions.ts";
import { accessReviewWebhook, WebhookAuthorizer } from "../webhook-authorizer.ts";

/** Receives the results of webhook requests. */
export interface WebhookObserver {
  attempted(name: string, result: AttemptResult, seconds: number): void;
  /** The webhook failed, so the next authorizer decides. */
  failedOpen(name: string, result: AttemptResult): void;
}

/** A webhook authorizer with its own connections. */
export interface OpenedWebhook {
  readonly authorizer: WebhookAuthorizer;
  close(): void;
}

const MAX_BYTES = 1024 * 1024;

/** Creates a webhook authorizer. Rejects if its kubeconfig cannot be used. */
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
      const effect = onFailure === "deny" ? "the request is denied" : "the next authorizer decides";
      log.error(`authorization webhook failed; ${effect}`, { authorizer: name, reason: error.message });
      if (onFailure === "noOpinion") observer.failedOpen(name, result);
    },
  });
  return { authorizer, close: () => client.close() };
}
