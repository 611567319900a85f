import type { Log } from "../../../base/util/environment.ts";
import type { ParamKind } from "../../../kinds/types/admission-registration.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { mutatingPolicies, mutatingSource } from "../policies/mutating.ts";
import type { PolicyObserver } from "../policies/observer.ts";
import type { PolicySource } from "../policies/policy-source.ts";
import { validatingPolicies, validatingSource } from "../policies/validating.ts";
import type { WebhookObserver } from "../webhooks/observer.ts";
import type { WebhookSource } from "../webhooks/webhook-source.ts";
import { followPersistently } from "./follow-persistently.ts";
import { type WebhookAdmissionOptions, webhookAdmission } from "./webhook-admission.ts";

/** Receives the results of policies and webhooks. */
export type RulesObserver = WebhookObserver & PolicyObserver;

/** Options of `dynamicAdmission`. */
export interface DynamicAdmissionOptions extends WebhookAdmissionOptions {
  readonly observer: RulesObserver;
  /** Receives errors of watching the configuration. The watch is retried. */
  readonly log: Pick<Log, "error" | "info">;
}

/** The plugins whose configuration consists of stored objects. */
export interface DynamicAdmission {
  /** In the order in which they run. */
  readonly plugins: readonly AdmissionPlugin[];
  /** Whether a policy or webhook may apply to writes of a resource or its subresource. */
  readonly concerns: (resource: ServedResource, subresource: string) => boolean;
  /** The paramKinds of all policies in force. */
  paramKinds(): readonly ParamKind[];
  /** Watches the configuration until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the configuration that is stored now has been loaded. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Receives static policies and webhooks, which are not stored. */
  readonly sources: DynamicSources;
}

/** The known policies and webhooks, by plugin. */
export interface DynamicSources {
  readonly MutatingAdmissionPolicy: Pick<PolicySource<unknown>, "setFixed">;
  readonly ValidatingAdmissionPolicy: Pick<PolicySource<unknown>, "setFixed">;
  readonly MutatingAdmissionWebhook: Pick<WebhookSource, "setFixed">;
  readonly ValidatingAdmissionWebhook: Pick<WebhookSource, "setFixed">;
}

/** Watches policies, bindings and webhook configurations, and creates the plugins that apply them. */
export function dynamicAdmission(options: DynamicAdmissionOptions): DynamicAdmission {
  const { resources, authorizer, log } = options;
  const report = (error: unknown) => log.error("watching admission configuration failed, retrying", { err: error });
  const { clock } = resources;
  const mutating = mutatingSource(resources);
  const validating = validatingSource(resources);
  const webhooks = webhookAdmission(options);
  const sources = [mutating, validating, webhooks.mutating.source, webhooks.validating.source];
  const context = { resources, authorizer, observer: options.observer };
  return {
    plugins: [
      mutatingPolicies(mutating, context),
      webhooks.mutating.plugin,
      validatingPolicies(validating, context),
      webhooks.validating.plugin,
    ],
    concerns: (resource, subresource) => sources.some((source) => source.concerns(resource, subresource)),
    paramKinds: () => [...mutating.paramKinds(), ...validating.paramKinds()],
    async run(signal) {
      await Promise.all(
        sources.map((source) => followPersistently((own) => source.run(own), { clock, report, signal })),
      );
    },
    async loaded(signal) {
      await Promise.all(sources.map((source) => source.loaded(signal)));
    },
    sources: {
      MutatingAdmissionPolicy: mutating,
      ValidatingAdmissionPolicy: validating,
      MutatingAdmissionWebhook: webhooks.mutating.source,
      ValidatingAdmissionWebhook: webhooks.validating.source,
    },
  };
}
