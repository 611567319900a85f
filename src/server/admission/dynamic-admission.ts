import type { AdmissionPlugin } from "../../admission/plugin.ts";
import { mutatingPolicies, mutatingSource } from "../../admission/policies/mutating.ts";
import type { PolicyObserver } from "../../admission/policies/observer.ts";
import type { PolicySource } from "../../admission/policies/policy-source.ts";
import { validatingPolicies, validatingSource } from "../../admission/policies/validating.ts";
import type { WebhookObserver } from "../../admission/webhooks/observer.ts";
import type { WebhookSource } from "../../admission/webhooks/webhook-source.ts";
import type { Log } from "../../lib/environment.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { ParamKind } from "../../types/admission-registration.ts";
import { followPersistently } from "./follow-persistently.ts";
import { type WebhookAdmissionOptions, webhookAdmission } from "./webhook-admission.ts";

/** Hears what policies and webhooks do. */
export type RulesObserver = WebhookObserver & PolicyObserver;

/** What policies and webhooks need of the server. */
export interface DynamicAdmissionOptions extends WebhookAdmissionOptions {
  readonly observer: RulesObserver;
  /** Hears why configurations could not be followed for a while. */
  readonly log: Pick<Log, "error" | "info">;
}

/** The plugins whose rules are stored objects. */
export interface DynamicAdmission {
  /** In their order. */
  readonly plugins: readonly AdmissionPlugin[];
  /** Whether a write to a resource or its subresource may have to be shown to anybody. */
  readonly concerns: (resource: ServedResource, subresource: string) => boolean;
  /** The kinds of params of all policies that are in force. */
  paramKinds(): readonly ParamKind[];
  /** Follows the configurations until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when what is stored now is known. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Where policies and webhooks that are not stored are put. */
  readonly sources: DynamicSources;
}

/** The policies and webhooks that are known, by the plugins that ask them. */
export interface DynamicSources {
  readonly MutatingAdmissionPolicy: Pick<PolicySource<unknown>, "setFixed">;
  readonly ValidatingAdmissionPolicy: Pick<PolicySource<unknown>, "setFixed">;
  readonly MutatingAdmissionWebhook: Pick<WebhookSource, "setFixed">;
  readonly ValidatingAdmissionWebhook: Pick<WebhookSource, "setFixed">;
}

/** Watches policies, their bindings and the configurations of webhooks, and makes the plugins that ask them. */
export function dynamicAdmission(options: DynamicAdmissionOptions): DynamicAdmission {
  const { resources, authorizer, log } = options;
  const report = (error: unknown) => log.error("admission cannot be followed", { err: error });
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
