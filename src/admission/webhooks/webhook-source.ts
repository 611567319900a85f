import type { ServedResource } from "../../resources/model/catalog.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../resources/read/stored-index.ts";
import type { Resources } from "../../resources/resources.ts";
import { MatchIndex } from "../matching/match-index.ts";
import { type CompiledWebhook, compileConfiguration } from "./compiled-webhook.ts";

const GROUP = "admissionregistration.k8s.io";

/** The two kinds of configuration, by their plural names. */
export const CONFIGURATIONS = {
  mutating: "mutatingwebhookconfigurations",
  validating: "validatingwebhookconfigurations",
} as const;

/** The plugins that ask webhooks, and the kinds in which these are written down. */
export const KINDS_OF_PLUGINS = {
  MutatingAdmissionWebhook: "MutatingWebhookConfiguration",
  ValidatingAdmissionWebhook: "ValidatingWebhookConfiguration",
} as const;

/** A webhook with its place among all, by which audit annotations name it. */
export interface PlacedWebhook extends Pick<CompiledWebhook, "criteria"> {
  readonly webhook: CompiledWebhook;
  readonly position: number;
}

/** All webhooks of one of the two kinds of configuration, compiled when they change, in the order in which they are called. */
export class WebhookSource {
  readonly #stored: StoredIndex<readonly CompiledWebhook[]>;
  readonly #resources: Resources;
  #current: MatchIndex<PlacedWebhook> | undefined;
  #fixed: readonly CompiledWebhook[] = [];

  constructor(resources: Resources, plural: (typeof CONFIGURATIONS)[keyof typeof CONFIGURATIONS]) {
    const { store, keys, codec, catalog } = resources;
    const { definition } = storedResource(catalog, GROUP, plural);
    this.#resources = resources;
    this.#stored = new StoredIndex({
      store,
      prefix: keys.prefix(definition),
      read: (entry) => compileConfiguration(codec.read(entry)),
      changed: () => {
        this.#current = undefined;
      },
    });
  }

  /** Webhooks that are not stored but given at the start come before all others. */
  setFixed(webhooks: readonly CompiledWebhook[]): void {
    this.#fixed = webhooks;
    this.#current = undefined;
  }

  /** Which webhooks a request concerns. */
  get index(): MatchIndex<PlacedWebhook> {
    this.#current ??= new MatchIndex(this.#resources.catalog, this.#inOrder());
    return this.#current;
  }

  /** Whether a write to a resource or its subresource may concern a webhook. */
  concerns(resource: ServedResource, subresource: string): boolean {
    return this.index.concerns(resource, subresource);
  }

  /** Follows the store until the signal aborts. Throws when it cannot. */
  run(signal: AbortSignal): Promise<void> {
    return this.#stored.run(signal);
  }

  /** Resolves when everything that is stored now is known. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#stored.loaded(signal);
  }

  /** By the names of their configurations, then as they stand in these. Upstream: `mergeMutatingWebhookConfigurations`. */
  #inOrder(): PlacedWebhook[] {
    const byKey = [...this.#stored.items].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = [...this.#fixed, ...byKey.flatMap(([, webhooks]) => webhooks)];
    return all.map((webhook, position) => ({ webhook, position, criteria: webhook.criteria }));
  }
}
