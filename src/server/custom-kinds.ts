import type { Aggregator } from "../aggregation/aggregator.ts";
import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { CatalogParts } from "../custom/catalog-parts.ts";
import { hooksByName } from "../custom/coded-kind.ts";
import { definitionControllers } from "../custom/definition-controllers.ts";
import { DefinitionIndex } from "../custom/definition-index.ts";
import { OpenKinds } from "../custom/open/open-kinds.ts";
import { ServedKinds } from "../custom/served-kinds.ts";
import type { Resources } from "../resources/resources.ts";
import { followPersistently } from "./admission/follow-persistently.ts";
import type { Config } from "./config.ts";
import { conversionCall } from "./webhooks/conversion-call.ts";
import type { WebhookClient } from "./webhooks/webhook-client.ts";

/** The kinds that CustomResourceDefinitions define. */
export interface CustomKinds {
  /** Resolves when every kind that is defined now is served. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Follows the definitions until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The loops that kube-apiserver runs for definitions. */
  controllers(context: ControllerContext): Controller[];
  /** Absent: only what is defined is served. */
  readonly open: OpenKinds | undefined;
}

/** Serves what is defined, in every server on the same store. `report` hears why definitions could not be followed. */
export function customKinds(
  resources: Resources,
  config: Config,
  report: (error: unknown) => void,
  aggregator: Aggregator,
  webhooks: WebhookClient,
): CustomKinds {
  const index = new DefinitionIndex(resources);
  const { clock, catalog, random } = resources;
  const parts = new CatalogParts(catalog);
  new ServedKinds(parts, index, {
    conversion: { call: conversionCall(webhooks), random },
    isShared: config.store.type === "etcd",
    hooks: hooksByName(config.kinds ?? []),
  });
  const isOwned = (group: string) => aggregator.hasGroup(group) || index.all.some(({ spec }) => spec?.group === group);
  const open = config.customObjects === "open" ? new OpenKinds({ resources, parts, isOwned, report }) : undefined;
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
    controllers: (context) => [...definitionControllers(context, index), ...aggregator.controllers(context)],
  };
}
