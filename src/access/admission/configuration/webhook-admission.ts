import type { Authorizer } from "../../../base/api/attributes.ts";
import { INLINE_LIMITS } from "../../../base/api/body-limits.ts";
import type { Resources } from "../../../resources/resources.ts";
import { type WebhookCredentials, WebhookFailure, type WebhookPoster } from "../../webhooks/webhook-client.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import type { CallWebhook } from "../webhooks/ask-webhook.ts";
import { CallFailure } from "../webhooks/failures.ts";
import { WebhookMatcher } from "../webhooks/matcher.ts";
import { mutatingWebhooks } from "../webhooks/mutating.ts";
import type { WebhookObserver, WebhookType } from "../webhooks/observer.ts";
import { validatingWebhooks } from "../webhooks/validating.ts";
import { CONFIGURATIONS, WebhookSource } from "../webhooks/webhook-source.ts";
import type { AdmissionFile } from "./configuration-file.ts";

/** Options of `webhookAdmission`. */
export interface WebhookAdmissionOptions {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly client: WebhookPoster;
  readonly observer: WebhookObserver;
  /** Credentials for webhooks, and folders of static manifests. */
  readonly file?: AdmissionFile | undefined;
  /** Maximum number of values in a patch. Default: what the event loop can decode without a stall. */
  readonly maxValues?: number | undefined;
}

/** A webhook plugin, and the source of its webhooks. */
export interface WebhookAdmission {
  readonly plugin: AdmissionPlugin;
  readonly source: WebhookSource;
}

/** Creates the two webhook plugins. */
export function webhookAdmission(
  options: WebhookAdmissionOptions,
): Record<"mutating" | "validating", WebhookAdmission> {
  const { resources, authorizer, client, observer, file = {}, maxValues = INLINE_LIMITS.maxValues } = options;
  const { access, clock, random, features } = resources;
  const { MutatingAdmissionWebhook: changing, ValidatingAdmissionWebhook: judging } = file;
  const context = { random, observer, clock };
  const mutating = new WebhookSource(resources, CONFIGURATIONS.mutating);
  const validating = new WebhookSource(resources, CONFIGURATIONS.validating);
  const matcher = (source: WebhookSource, type: WebhookType) =>
    new WebhookMatcher({ source, access, authorizer, observer, clock, type });
  const defaults = { clock, features };
  const call = callOf(client, changing?.credentials);
  const changes = { ...context, type: "admit", call, defaults, maxValues } as const;
  const verdicts = { ...context, type: "validating", call: callOf(client, judging?.credentials) } as const;
  return {
    mutating: { source: mutating, plugin: mutatingWebhooks(matcher(mutating, "admit"), changes) },
    validating: { source: validating, plugin: validatingWebhooks(matcher(validating, "validating"), verdicts) },
  };
}

function callOf(client: WebhookPoster, credentials: WebhookCredentials | undefined): CallWebhook {
  return async ({ clientConfig, body, timeoutMs, signal }) => {
    try {
      return await client.post({ config: clientConfig, body, timeoutMs, signal, credentials });
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error;
      throw new CallFailure(`failed to call webhook: ${error.message}`, error.code);
    }
  };
}
