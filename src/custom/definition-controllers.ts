import { isDeepStrictEqual } from "node:util";
import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import { customApiServices } from "./api-services.ts";
import type { DefinitionIndex, StoredDefinition } from "./definition-index.ts";
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
  const status = (name: string, change: Change, concernsGroup = false): Controller =>
    controller(context, index, { name, concurrency: 1, concernsGroup }, async (stored, signal) => {
      const next = change(stored);
      const written = next && (await writeStatus(context, stored.definition, next));
      // What is decided next must know of it, as upstream's mutation cache does.
      if (written) await index.reached(written, signal);
    });
  return [
    status("crd-naming-controller", ({ definition }) => acceptNames(definition, index.all), true),
    status("crd-establishing-controller", ({ definition }) => establish(definition)),
    status("crd-api-approval-controller", ({ definition }) => judgeApproval(definition)),
    status("crd-non-structural-schema-controller", judgeSchemas),
    controller(context, index, FINALIZER, ({ definition }) => finishDeletion(context, definition)),
    customApiServices(context, index),
  ];
}

/** What the status of a definition becomes; undefined when nothing changes. */
type Change = (stored: StoredDefinition) => StatusChange | undefined;

interface Loop {
  readonly name: string;
  readonly concurrency: number;
  /** Whether a change is none that there is something to do about. */
  isOwn?(before: CustomResourceDefinition, after: CustomResourceDefinition): boolean;
  /** When a definition goes or gets other names, all others of its group are looked at: they may want what became free. */
  readonly concernsGroup?: boolean;
}

/** A deletion that fails is told in the condition Terminating, which is no reason to try it again at once. */
const FINALIZER: Loop = { name: "crd-finalizer", concurrency: 5, isOwn: differInTerminating };

function controller(
  { resources, report }: ControllerContext,
  index: DefinitionIndex,
  { name, concurrency, concernsGroup = false, isOwn = () => false }: Loop,
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

/** Groups in which a definition is gone, or has other accepted names than before. */
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
