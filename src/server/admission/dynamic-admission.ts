import type { AdmissionPlugin } from "../../admission/plugin.ts";
import { mutatingPolicies, mutatingSource } from "../../admission/policies/mutating.ts";
import { validatingPolicies, validatingSource } from "../../admission/policies/validating.ts";
import type { Log } from "../../lib/environment.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { ParamKind } from "../../types/admission-registration.ts";
import { followPersistently } from "./follow-persistently.ts";
import { type WebhookAdmissionOptions, webhookAdmission } from "./webhook-admission.ts";

/** What policies and webhooks need of the server. */
export interface DynamicAdmissionOptions extends WebhookAdmissionOptions {
  /** Hears why configurations could not be followed for a while. */
  readonly log: Pick<Log, "error">;
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
  const context = { resources, authorizer };
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
  };
}
