import { followPersistently } from "../../access/admission/configuration/follow-persistently.ts";
import type { WebhookClient } from "../../access/webhooks/webhook-client.ts";
import type { Authorizer } from "../../base/api/attributes.ts";
import type { Log } from "../../base/util/environment.ts";
import { apiServiceAvailability } from "../../cluster/controllers/apiserver/api-service-availability.ts";
import { definitionControllers } from "../../cluster/controllers/apiserver/custom-resources/definition-controllers.ts";
import type { Controller, ControllerContext } from "../../cluster/controllers/shared/controller.ts";
import { CatalogParts } from "../../kinds/custom/catalog-parts.ts";
import { hooksByName } from "../../kinds/custom/coded-kind.ts";
import { DefinitionIndex } from "../../kinds/custom/definition-index.ts";
import type { OpenKinds } from "../../kinds/custom/open/open-kinds.ts";
import { ServedKinds } from "../../kinds/custom/served-kinds.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Aggregator } from "../../serving/aggregation/aggregator.ts";
import { assembleOpenKinds } from "./assemble-open-kinds.ts";
import type { Config } from "./config.ts";
import { conversionCall } from "./conversion-call.ts";

/** The kinds of CustomResourceDefinitions. */
export interface CustomKinds {
  /** Resolves when all currently defined kinds are served. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Watches the definitions until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The controllers of kube-apiserver for definitions. */
  controllers(context: ControllerContext): Controller[];
  /** Undefined if only defined kinds are served. */
  readonly open: OpenKinds | undefined;
}

/** Dependencies of custom kinds. */
export interface CustomKindsParts {
  readonly aggregator: Aggregator;
  readonly webhooks: WebhookClient;
  readonly authorizer: Authorizer;
  readonly log: Log;
}

/** Serves what is defined, in every server on the same store. */
export function customKinds(
  resources: Resources,
  config: Config,
  { aggregator, webhooks, authorizer, log }: CustomKindsParts,
): CustomKinds {
  const report = (error: unknown) => log.error("watching CRDs and extension servers failed, retrying", { err: error });
  const index = new DefinitionIndex(resources);
  const { clock, catalog, random } = resources;
  const parts = new CatalogParts(catalog);
  new ServedKinds(parts, index, {
    conversion: { call: conversionCall(webhooks, clock), random },
    isShared: config.store.type === "etcd",
    hooks: hooksByName(config.kinds ?? []),
  });
  const isOwned = (group: string) => aggregator.hasGroup(group) || index.all.some(({ spec }) => spec?.group === group);
  const open = assembleOpenKinds(config, { resources, parts, isOwned, authorizer, log });
  const follow = (run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) =>
    followPersistently(run, { clock, report, signal });
  return {
    open,
    async loaded(signal) {
      await index.loaded(signal);
      await aggregator.loaded(signal);
      await open?.loaded(signal);
    },
    async run(signal) {
      await Promise.all([
        follow((own) => index.run(own), signal),
        follow((own) => aggregator.run(own), signal),
        ...(open ? [follow((own) => open.run(own), signal)] : []),
      ]);
    },
    controllers: (context) => [
      ...definitionControllers(context, index, async ({ spec }, signal) => {
        const { group = "", scope, names: { plural = "", kind = "" } = {} } = spec ?? {};
        await open?.makeWay({ group, plural, kind, scope: scope === "Cluster" ? "Cluster" : "Namespaced" }, signal);
      }),
      apiServiceAvailability(context, aggregator.availability),
    ],
  };
}
