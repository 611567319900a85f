import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { definitionControllers } from "../custom/definition-controllers.ts";
import { DefinitionIndex } from "../custom/definition-index.ts";
import { ServedKinds } from "../custom/served-kinds.ts";
import type { Resources } from "../resources/resources.ts";
import type { Config } from "./config.ts";

/** The kinds that CustomResourceDefinitions define. */
export interface CustomKinds {
  /** Resolves when every kind that is defined now is served. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Follows the definitions until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The loops that kube-apiserver runs for definitions. */
  controllers(context: ControllerContext): Controller[];
}

const RETRY_MS = 500;

/** Serves what is defined, in every server on the same store. `report` hears why definitions could not be followed. */
export function customKinds(resources: Resources, config: Config, report: (error: unknown) => void): CustomKinds {
  const index = new DefinitionIndex(resources);
  const { clock, catalog } = resources;
  new ServedKinds(catalog, index, config.store.type === "etcd");
  return {
    loaded: (signal) => index.loaded(signal),
    async run(signal) {
      while (!signal.aborted) {
        try {
          await index.run(signal);
        } catch (error) {
          if (signal.aborted) return;
          report(error);
          await clock.sleep(RETRY_MS, signal);
        }
      }
    },
    controllers: (context) => definitionControllers(context, index),
  };
}
