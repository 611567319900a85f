import { isDeepStrictEqual } from "node:util";
import type { Eventually } from "../../../../base/util/eventually.ts";
import { untilAborted } from "../../../../base/util/until-aborted.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { DefinitionIndex, StoredDefinition } from "../../../../kinds/custom/definition-index.ts";
import type { CustomResourceDefinition } from "../../../../kinds/types/custom-resource-definition.ts";
import type { Controller, ControllerContext } from "../../shared/controller.ts";
import { customApiServices } from "./api-services.ts";
import { type StatusChange, writeStatus } from "./definition-status.ts";
import { differInTerminating, finishDeletion, InstancesRemain } from "./deletion.ts";
import { establish } from "./establishing.ts";
import { acceptNames } from "./naming.ts";
import { judgeApproval, judgeSchemas } from "./policy-conditions.ts";

/** Polling interval while objects of a deleted definition remain. Compat: `deleteInstances` of the CRDFinalizer. */
const POLL_MS = 5000;

/**
 * The controllers that kube-apiserver runs for CustomResourceDefinitions: NamingConditionController,
 * EstablishingController, CRDFinalizer, those of two conditions, and the registration of APIServices.
 */
export function definitionControllers(
  context: ControllerContext,
  index: DefinitionIndex,
  beforeServing: BeforeServing = async () => {},
): Controller[] {
  const status = (name: string, change: Change, concernsGroup = false, before?: BeforeServing): Controller =>
    controller(context, index, { name, concurrency: 1, concernsGroup }, async (stored, signal) => {
      const next = await change(stored);
      if (next && acceptsNames(next)) await before?.(stored.definition, signal);
      const written = next && (await writeStatus(context, stored.definition, next));
      // The next decision must see this write, like with upstream's mutation cache.
      if (written) await index.reached(written, signal);
    });
  return [
    status("crd-naming-controller", ({ definition }) => acceptNames(definition, index.all), true, beforeServing),
    status("crd-establishing-controller", ({ definition }) => establish(definition)),
    status("crd-api-approval-controller", ({ definition }) => judgeApproval(definition)),
    status("crd-non-structural-schema-controller", judgeSchemas),
    controller(context, index, FINALIZER, ({ definition }) => finishDeletion(context, definition)),
    customApiServices(context, index),
  ];
}

/** Called before the names of a definition are accepted, that is, before it is served. */
export type BeforeServing = (definition: CustomResourceDefinition, signal: AbortSignal) => Promise<void>;

const acceptsNames = ({ conditions }: StatusChange): boolean =>
  conditions.some(({ type, status }) => type === "NamesAccepted" && status === "True");

/** Computes the new status of a definition. Undefined if nothing changes. */
type Change = (stored: StoredDefinition) => Eventually<StatusChange | undefined>;

interface ControllerOptions {
  readonly name: string;
  readonly concurrency: number;
  /** Whether the change needs no reconciliation, because the controller itself made it. */
  isOwn?(before: CustomResourceDefinition, after: CustomResourceDefinition): boolean;
  /**
   * When a definition is deleted or its names change, all others of its group are reconciled: they may want the freed
   * names.
   */
  readonly concernsGroup?: boolean;
}

/** A failed deletion is recorded in the condition Terminating, which must not trigger a retry at once. */
const FINALIZER: ControllerOptions = { name: "crd-finalizer", concurrency: 5, isOwn: differInTerminating };

function controller(
  { resources, report }: ControllerContext,
  index: DefinitionIndex,
  { name, concurrency, concernsGroup = false, isOwn = () => false }: ControllerOptions,
  work: (stored: StoredDefinition, signal: AbortSignal) => Promise<void>,
): Controller {
  const { clock } = resources;
  return {
    name,
    async run(signal) {
      const queue: WorkQueue<string> = new WorkQueue({
        clock,
        concurrency,
        work: async (key) => {
          const stored = index.find(key);
          if (!stored) return;
          await work(stored, signal).catch((error: unknown) => {
            if (!(error instanceof InstancesRemain)) throw error;
            queue.addAfter(key, POLL_MS);
          });
        },
        onError: (error) => {
          if (!signal.aborted) report(name, error);
        },
      });
      let seen: ReadonlyMap<string, CustomResourceDefinition> = new Map();
      const enqueue = () => {
        const now = new Map(index.all.map((definition) => [definition.metadata.name ?? "", definition]));
        for (const [key, definition] of now) {
          const before = seen.get(key);
          if (before === undefined || (before !== definition && !isOwn(before, definition))) queue.add(key);
        }
        if (concernsGroup) for (const key of membersOf(freedGroups(seen, now), now)) queue.add(key);
        seen = now;
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

type Definitions = ReadonlyMap<string, CustomResourceDefinition>;

/** Groups in which a definition was deleted, or its accepted names changed. */
function freedGroups(before: Definitions, now: Definitions): Set<string> {
  const groups = new Set<string>();
  for (const [key, definition] of before) {
    const next = now.get(key);
    if (next === definition || definition.status?.acceptedNames === undefined) continue;
    if (!isDeepStrictEqual(definition.status.acceptedNames, next?.status?.acceptedNames)) {
      groups.add(definition.spec?.group ?? "");
    }
  }
  return groups;
}

function membersOf(groups: ReadonlySet<string>, now: Definitions): string[] {
  if (groups.size === 0) return [];
  return [...now].filter(([, { spec }]) => groups.has(spec?.group ?? "")).map(([key]) => key);
}
