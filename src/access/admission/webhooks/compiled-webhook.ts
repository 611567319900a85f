import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { webhookConditions } from "../../../data/cel/kubernetes/admission-environment.ts";
import type { Webhook } from "../../../kinds/types/admission-registration.ts";
import { MatchConditions } from "../matching/conditions.ts";
import type { MatchCriteria } from "../matching/match-index.ts";
import { Selectors } from "../matching/selectors.ts";

/** A webhook, prepared for matching. Selectors and conditions are compiled on first use. */
export class CompiledWebhook {
  readonly name: string;
  /** Name of its configuration. */
  readonly configuration: string;
  /** Unique id: old configurations may contain a name twice. */
  readonly id: string;
  readonly spec: Webhook;
  readonly criteria: MatchCriteria;
  /** `failurePolicy: Ignore`. */
  readonly failsOpen: boolean;
  /** Whether it comes from a static manifest. Only such webhooks apply to the configuration of admission itself. */
  readonly isFixed: boolean;
  #selectors: Selectors | undefined;
  #conditions: MatchConditions | undefined;

  constructor(configuration: string, id: string, spec: Webhook, isFixed: boolean) {
    this.isFixed = isFixed;
    this.name = spec.name ?? "";
    this.configuration = configuration;
    this.id = id;
    this.spec = spec;
    const { rules = [], matchPolicy, failurePolicy } = spec;
    this.criteria = { rules, excluded: [], meansAll: false, isEquivalent: matchPolicy === "Equivalent" };
    this.failsOpen = failurePolicy === "Ignore";
  }

  get selectors(): Selectors {
    this.#selectors ??= new Selectors(this.spec);
    return this.#selectors;
  }

  get conditions(): MatchConditions {
    this.#conditions ??= new MatchConditions(this.spec.matchConditions ?? [], webhookConditions, !this.failsOpen);
    return this.#conditions;
  }
}

/** The webhooks of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration, in order. */
export function compileConfiguration({ metadata, webhooks }: KubeObject, isFixed = false): CompiledWebhook[] {
  const configuration = metadata.name ?? "";
  const seen = new Map<string, number>();
  return (Array.isArray(webhooks) ? (webhooks as Json[]) : []).filter(isObject).map((spec) => {
    const { name = "" } = spec as Webhook;
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return new CompiledWebhook(configuration, `${configuration}/${name}/${count}`, spec as Webhook, isFixed);
  });
}
