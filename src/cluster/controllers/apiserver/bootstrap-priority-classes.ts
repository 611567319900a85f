import { storedResource } from "../../../resources/model/stored-resource.ts";
import { type ControllerContext, ensureObject } from "../shared/controller.ts";

const GROUP = "scheduling.k8s.io";
const PLURAL = "priorityclasses";

const CLASSES: readonly { readonly name: string; readonly value: number; readonly description: string }[] = [
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

/** Creates the PriorityClasses system-node-critical and system-cluster-critical, unless they exist. */
export async function createSystemPriorities(context: ControllerContext): Promise<void> {
  const resource = storedResource(context.resources.catalog, GROUP, PLURAL);
  for (const { name, value, description } of CLASSES) {
    const metadata = { name };
    await ensureObject(context, resource, {
      kind: "PriorityClass",
      apiVersion: `${GROUP}/v1`,
      metadata,
      value,
      description,
    });
  }
}
