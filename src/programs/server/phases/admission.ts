import type { RulesObserver } from "../../../access/admission/configuration/dynamic-admission.ts";
import { type PreparedAdmission, prepareAdmission } from "../../../access/admission/configuration/prepare-admission.ts";
import { admissionWebhookMetrics } from "../../../access/admission/metrics/admission-webhook-metrics.ts";
import { manifestMetrics } from "../../../access/admission/metrics/manifest-metrics.ts";
import { policyMetrics } from "../../../access/admission/metrics/policy-metrics.ts";
import { WebhookClient } from "../../../access/webhooks/webhook-client.ts";
import type { Aggregator } from "../../../serving/aggregation/aggregator.ts";
import { openAggregation } from "../../../serving/aggregation/assemble.ts";
import { type CustomKinds, customKinds } from "../custom-kinds.ts";
import type { AccessParts } from "./access.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** Parts that depend on what is stored: custom kinds, extension servers, policies and webhooks. */
export interface AdmissionParts {
  readonly aggregator: Aggregator;
  readonly custom: CustomKinds;
  readonly dynamic: PreparedAdmission;
  readonly observer: RulesObserver;
}

/** Opens the connections to webhooks and extension servers, and builds what uses them. */
export async function assembleAdmission(
  { config, environment, given, opened, log, registries }: Setting,
  { resources }: StorageParts,
  { judges }: AccessParts,
): Promise<AdmissionParts> {
  const { clock } = environment;
  const registry = registries["/metrics"];
  const { aggregator, resolve, ...aggregation } = await openAggregation(
    resources,
    config,
    environment,
    given.isOffline,
  );
  opened.defer(() => aggregation.close());
  const webhooks = new WebhookClient({ clock, resolve, isOffline: given.isOffline });
  opened.defer(() => webhooks.close());
  const { authorizer } = judges;
  const custom = customKinds(resources, config, { aggregator, webhooks, authorizer, log });
  const observer = { ...admissionWebhookMetrics(registry), ...policyMetrics(registry) };
  const dynamic = await prepareAdmission(config.admission, {
    resources,
    authorizer,
    client: webhooks,
    observer,
    log,
    manifests: manifestMetrics(registry, clock),
  });
  opened.defer(() => dynamic.close());
  return { aggregator, custom, dynamic, observer };
}
