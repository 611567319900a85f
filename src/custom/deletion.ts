import type { ControllerContext } from "../controllers/controller.ts";
import { unlessCode } from "../controllers/controller.ts";
import { forEachLimited } from "../controllers/for-each-limited.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  isDefinitionCondition,
} from "../types/custom-resource-definition.ts";
import { type NewCondition, writeStatus } from "./definition-status.ts";

const TERMINATING = "Terminating";
const DELETIONS = 16;
const PAGE = 500;

/** Objects of the kind are left, held by finalizers of their own. */
export class InstancesRemain extends Error {
  constructor(name: string) {
    super(`objects of ${name} remain`);
    this.name = "InstancesRemain";
  }
}

/**
 * Deletes the objects of a definition that is being deleted, then lets it go. Throws InstancesRemain while some are left.
 * Upstream: `sync` of the CRDFinalizer.
 */
export async function finishDeletion(context: ControllerContext, definition: CustomResourceDefinition): Promise<void> {
  const { metadata } = definition;
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
  const message = "CustomResource deletion is in progress";
  const begun = await writeStatus(context, definition, {
    conditions: [{ type: TERMINATING, status: "True", reason: "InstanceDeletionInProgress", message }],
  });
  if (!begun) return;
  const done = await deleteInstances(context, definition);
  const finalizers = metadata.finalizers.filter((one) => one !== CLEANUP_FINALIZER);
  await writeStatus(context, begun as CustomResourceDefinition, { conditions: [done], finalizers });
}

async function deleteInstances(
  { resources, client }: ControllerContext,
  definition: CustomResourceDefinition,
): Promise<NewCondition> {
  const done = { type: TERMINATING, status: "False" } as const;
  if (!isDefinitionCondition(definition, "Established")) {
    return { ...done, reason: "NeverEstablished", message: "resource was never established" };
  }
  const resource = servedResource({ resources }, definition);
  if (resource === undefined) {
    const message = "instances overlap with built-in resources in storage";
    return { ...done, reason: "OverlappingBuiltInResource", message };
  }
  const { store, keys } = resources;
  const prefix = keys.prefix(resource.definition);
  let after: string | undefined;
  for (;;) {
    const { entries, remaining } = await store.list(prefix, { after, limit: PAGE });
    await forEachLimited([...entries], DELETIONS, async ({ key }) => {
      await client.delete(resource, keys.parse(resource.definition, key)).catch(unlessCode(404));
    });
    if (remaining === 0) break;
    after = entries.at(-1)?.key;
  }
  const { entries } = await store.list(prefix, { limit: 1 });
  if (entries.length > 0) throw new InstancesRemain(definition.metadata.name ?? "");
  return { ...done, reason: "InstanceDeletionCompleted", message: "removed all instances" };
}

/** The kind in any of its versions; undefined when another kind is served under its name. */
function servedResource(
  { resources }: Pick<ControllerContext, "resources">,
  { spec = {} }: CustomResourceDefinition,
): ServedResource | undefined {
  const { group = "", names = {}, versions = [] } = spec;
  for (const { name = "" } of versions) {
    const found = resources.catalog.find(group, name, names.plural ?? "");
    if (found) return found.definition.presence ? found : undefined;
  }
  return undefined;
}
