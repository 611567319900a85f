import { isDeepStrictEqual } from "node:util";
import { forEachLimited } from "../../../../base/util/for-each-limited.ts";
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  isDefinitionCondition,
} from "../../../../kinds/types/custom-resource-definition.ts";
import { type ServedResource, serve } from "../../../../resources/model/catalog.ts";
import { storedApiVersion, versionIn } from "../../../../resources/model/conversion.ts";
import type { ControllerContext } from "../../shared/controller.ts";
import { unlessCode } from "../../shared/controller.ts";
import { type NewCondition, writeStatus } from "./definition-status.ts";

const TERMINATING = "Terminating";
const DELETIONS = 16;
const PAGE = 500;

/** Objects of the kind remain because of their finalizers. */
export class InstancesRemain extends Error {
  constructor(name: string) {
    super(`objects of ${name} remain`);
    this.name = "InstancesRemain";
  }
}

/**
 * Deletes the objects of a definition that is being deleted, then removes its finalizer. Throws InstancesRemain while
 * objects remain. Upstream: `sync` of the CRDFinalizer.
 */
export async function finishDeletion(context: ControllerContext, definition: CustomResourceDefinition): Promise<void> {
  const { metadata } = definition;
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
  const message = "CustomResource deletion is in progress";
  const begun = await writeStatus(context, definition, {
    conditions: [{ type: TERMINATING, status: "True", reason: "InstanceDeletionInProgress", message }],
  });
  if (!begun) return;
  const done = await deleteInstances(context, definition).catch(async (error: unknown) => {
    if (!(error instanceof InstancesRemain)) await reportFailure(context, begun as CustomResourceDefinition, error);
    throw error;
  });
  const finalizers = metadata.finalizers.filter((one) => one !== CLEANUP_FINALIZER);
  await writeStatus(context, begun as CustomResourceDefinition, { conditions: [done], finalizers });
}

/** Whether two states of a definition differ only in the condition Terminating and in metadata of the write. */
export function differInTerminating(before: CustomResourceDefinition, after: CustomResourceDefinition): boolean {
  return isDeepStrictEqual(withoutTerminating(before), withoutTerminating(after));
}

function withoutTerminating({ spec, status, metadata }: CustomResourceDefinition): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...rest } = metadata;
  const conditions = (status?.conditions ?? []).filter(({ type }) => type !== TERMINATING);
  return { spec, status: { ...status, conditions }, metadata: rest };
}

async function reportFailure(
  context: ControllerContext,
  definition: CustomResourceDefinition,
  error: unknown,
): Promise<void> {
  const message = `could not list instances: ${error instanceof Error ? error.message : String(error)}`;
  await writeStatus(context, definition, {
    conditions: [{ type: TERMINATING, status: "True", reason: "InstanceDeletionFailed", message }],
  });
}

async function deleteInstances(
  { resources }: ControllerContext,
  definition: CustomResourceDefinition,
): Promise<NewCondition> {
  const done = { type: TERMINATING, status: "False" } as const;
  if (!isDefinitionCondition(definition, "Established")) {
    return { ...done, reason: "NeverEstablished", message: "resource was never established" };
  }
  const { spec: { group = "", names = {} } = {} } = definition;
  const kind = resources.catalog.definitions.find((one) => one.group === group && one.plural === names.plural);
  if (kind && !kind.presence) {
    const message = "instances overlap with built-in resources in storage";
    return { ...done, reason: "OverlappingBuiltInResource", message };
  }
  const version = kind && versionIn(kind, storedApiVersion(kind));
  if (!version) throw new Error(`unable to find a custom resource client for ${names.plural}.${group}`);
  await deleteAll(resources, serve(kind, version));
  return { ...done, reason: "InstanceDeletionCompleted", message: "removed all instances" };
}

/**
 * Compat: `deleteInstances` of the CRDFinalizer uses the storage of the storage version directly, even if that version
 * is not served. Admission is skipped.
 */
async function deleteAll(resources: ControllerContext["resources"], resource: ServedResource): Promise<void> {
  const { store, keys } = resources;
  const { definition } = resource;
  const prefix = keys.prefix(definition);
  const objects = resources.collection(resource);
  let after: string | undefined;
  for (;;) {
    const { entries, remaining } = await store.list(prefix, { after, limit: PAGE });
    await forEachLimited([...entries], DELETIONS, async ({ key }) => {
      await objects.delete(resource, keys.parse(definition, key), {}, {}).catch(unlessCode(404));
    });
    if (remaining === 0) break;
    after = entries.at(-1)?.key;
  }
  const { entries } = await store.list(prefix, { limit: 1 });
  if (entries.length > 0) throw new InstancesRemain(`${definition.plural}.${definition.group}`);
}
