import type { AdmissionPlugin } from "../../admission/plugin.ts";
import type { CallWebhook } from "../../admission/webhooks/ask-webhook.ts";
import { CallFailure } from "../../admission/webhooks/failures.ts";
import { WebhookMatcher } from "../../admission/webhooks/matcher.ts";
import { mutatingWebhooks } from "../../admission/webhooks/mutating.ts";
import type { WebhookObserver, WebhookType } from "../../admission/webhooks/observer.ts";
import { validatingWebhooks } from "../../admission/webhooks/validating.ts";
import { CONFIGURATIONS, WebhookSource } from "../../admission/webhooks/webhook-source.ts";
import type { Authorizer } from "../../api/attributes.ts";
import type { Resources } from "../../resources/resources.ts";
import { type WebhookCredentials, WebhookFailure, type WebhookPoster } from "../webhooks/webhook-client.ts";
import type { AdmissionFile } from "./configuration-file.ts";

/** What webhooks need of the server. */
export interface WebhookAdmissionOptions {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly client: WebhookPoster;
  readonly observer: WebhookObserver;
  /** Credentials for webhooks, and folders of what is not stored. */
  readonly file?: AdmissionFile | undefined;
}

/** A plugin that asks webhooks, and where these are kept. */
export interface WebhookAdmission {
  readonly plugin: AdmissionPlugin;
  readonly source: WebhookSource;
}

/** The two plugins that ask webhooks. */
export function webhookAdmission(
  options: WebhookAdmissionOptions,
): Record<"mutating" | "validating", WebhookAdmission> {
  const { resources, authorizer, client, observer, file = {} } = options;
  const { access, clock, random, features } = resources;
  const { MutatingAdmissionWebhook: changing, ValidatingAdmissionWebhook: judging } = file;
  const context = { random, observer, clock };
  const mutating = new WebhookSource(resources, CONFIGURATIONS.mutating);
  const validating = new WebhookSource(resources, CONFIGURATIONS.validating);
  const matcher = (source: WebhookSource, type: WebhookType) =>
    new WebhookMatcher({ source, access, authorizer, observer, clock, type });
  const defaults = { clock, features };
  const changes = { ...context, type: "admit", call: callOf(client, changing?.credentials), defaults } as const;
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
