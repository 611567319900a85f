import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { Resources } from "../resources/resources.ts";

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

/** Creates the PriorityClasses system-node-critical and system-cluster-critical. Does nothing where they exist. */
export async function createSystemPriorities({ access }: Resources): Promise<void> {
  for (const { name, value, description } of CLASSES) {
    if (await access.find(GROUP, PLURAL, { namespace: "", name })) continue;
    const wanted: KubeObject = {
      kind: "PriorityClass",
      apiVersion: `${GROUP}/v1`,
      metadata: { name },
      value,
      description,
    };
    try {
      await access.create(GROUP, PLURAL, wanted);
    } catch (error) {
      // Another replica started at the same moment.
      if (!(error instanceof ApiError && error.code === 409)) throw error;
    }
  }
}
