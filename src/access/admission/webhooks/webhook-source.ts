import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../../resources/read/stored-index.ts";
import type { Resources } from "../../../resources/resources.ts";
import { MatchIndex } from "../matching/match-index.ts";
import { type CompiledWebhook, compileConfiguration } from "./compiled-webhook.ts";

const GROUP = "admissionregistration.k8s.io";

/** Plural names of the two kinds of configuration. */
export const CONFIGURATIONS = {
  mutating: "mutatingwebhookconfigurations",
  validating: "validatingwebhookconfigurations",
} as const;

/** The webhook plugins, and the kinds of their configurations. */
export const KINDS_OF_PLUGINS = {
  MutatingAdmissionWebhook: "MutatingWebhookConfiguration",
  ValidatingAdmissionWebhook: "ValidatingWebhookConfiguration",
} as const;

/** A webhook with its position, which audit annotations contain. */
export interface PlacedWebhook extends Pick<CompiledWebhook, "criteria"> {
  readonly webhook: CompiledWebhook;
  readonly position: number;
}

/** All webhooks of one kind of configuration, in call order. Recompiled when they change. */
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

  /** Sets the webhooks from static manifests. They come before all others. */
  setFixed(webhooks: readonly CompiledWebhook[]): void {
    this.#fixed = webhooks;
    this.#current = undefined;
  }

  /** Finds the webhooks whose rules match a request. */
  get index(): MatchIndex<PlacedWebhook> {
    this.#current ??= new MatchIndex(this.#resources.catalog, this.#inOrder());
    return this.#current;
  }

  /** Whether a webhook may apply to writes of a resource or its subresource. */
  concerns(resource: ServedResource, subresource: string): boolean {
    return this.index.concerns(resource, subresource);
  }

  /** Watches the store until the signal aborts. Rejects if the watch fails. */
  run(signal: AbortSignal): Promise<void> {
    return this.#stored.run(signal);
  }

  /** Resolves when everything that is stored now has been loaded. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#stored.loaded(signal);
  }

  /** By the name of the configuration, then by position in it. Upstream: `mergeMutatingWebhookConfigurations`. */
  #inOrder(): PlacedWebhook[] {
    const byKey = [...this.#stored.items].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = [...this.#fixed, ...byKey.flatMap(([, webhooks]) => webhooks)];
    return all.map((webhook, position) => ({ webhook, position, criteria: webhook.criteria }));
  }
}
