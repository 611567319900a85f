import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import { customApiServices } from "./api-services.ts";
import type { DefinitionIndex } from "./definition-index.ts";
import { type StatusChange, writeStatus } from "./definition-status.ts";
import { differInTerminating, finishDeletion, InstancesRemain } from "./deletion.ts";
import { establish } from "./establishing.ts";
import { acceptNames } from "./naming.ts";
import { judgeApproval, judgeSchemas } from "./policy-conditions.ts";
import { untilAborted } from "./until-aborted.ts";

/** How often it is looked whether the last objects of a definition are gone. Compat: `deleteInstances` of the CRDFinalizer polls so. */
const POLL_MS = 5000;

/** The loops that kube-apiserver runs for CustomResourceDefinitions: NamingConditionController, EstablishingController, CRDFinalizer, those of two conditions, and the registration of APIServices. */
export function definitionControllers(context: ControllerContext, index: DefinitionIndex): Controller[] {
  const status = (name: string, change: (one: CustomResourceDefinition) => StatusChange | undefined): Controller =>
    controller(context, index, { name, concurrency: 1 }, async (definition, signal) => {
      const next = change(definition);
      const written = next && (await writeStatus(context, definition, next));
      // What is decided next must know of it, as upstream's mutation cache does.
      if (written) await index.reached(written, signal);
    });
  return [
    status("crd-naming-controller", (definition) => acceptNames(definition, index.all)),
    status("crd-establishing-controller", establish),
    status("crd-api-approval-controller", judgeApproval),
    status("crd-non-structural-schema-controller", judgeSchemas),
    controller(context, index, FINALIZER, (definition) => finishDeletion(context, definition)),
    customApiServices(context, index),
  ];
}

interface Loop {
  readonly name: string;
  readonly concurrency: number;
  /** Whether a change is none that there is something to do about. */
  isOwn?(before: CustomResourceDefinition, after: CustomResourceDefinition): boolean;
}

/** A deletion that fails is told in the condition Terminating, which is no reason to try it again at once. */
const FINALIZER: Loop = { name: "crd-finalizer", concurrency: 5, isOwn: differInTerminating };

function controller(
  { resources, report }: ControllerContext,
  index: DefinitionIndex,
  { name, concurrency, isOwn = () => false }: Loop,
  work: (definition: CustomResourceDefinition, signal: AbortSignal) => Promise<void>,
): Controller {
  const { clock } = resources;
  return {
    name,
    async run(signal) {
      const queue: WorkQueue<string> = new WorkQueue({
        clock,
        concurrency,
        work: async (key) => {
          const definition = index.find(key);
          if (!definition) return;
          await work(definition, signal).catch((error: unknown) => {
            if (!(error instanceof InstancesRemain)) throw error;
            queue.addAfter(key, POLL_MS);
          });
        },
        onError: (error) => {
          if (!signal.aborted) report(name, error);
        },
      });
      const seen = new Map<string, CustomResourceDefinition>();
      const enqueue = () => {
        // A name that became free may be wanted by any other definition of the group.
        const all = [...index.all];
        const isOther = all.length !== seen.size;
        for (const definition of all) {
          const key = definition.metadata.name ?? "";
          const before = seen.get(key);
          if (!isOther && before && (before === definition || isOwn(before, definition))) continue;
          queue.add(key);
        }
        seen.clear();
        for (const definition of all) seen.set(definition.metadata.name ?? "", definition);
      };
      const unsubscribe = index.subscribe(enqueue);
      enqueue();
      try {
        await untilAborted(signal);
      } finally {
        unsubscribe();
        await queue.close();
      }
    },
  };
}
