import { ApiError } from "../api/api-error.ts";
import { Draft } from "../resources/model/draft.ts";
import type { Resources } from "../resources/resources.ts";

const NAMES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/** Creates the Namespaces default, kube-system, kube-public and kube-node-lease. Does nothing where they exist. */
export async function createDefaultNamespaces(resources: Resources): Promise<void> {
  const kind = resources.catalog.find("", "v1", "namespaces");
  if (!kind) return;
  for (const name of NAMES) {
    if (await resources.peek(kind, { namespace: "", name })) continue;
    const object = { kind: "Namespace", apiVersion: "v1", metadata: { name } };
    try {
      await resources.collection(kind).create(kind, new Draft(object), {});
    } catch (error) {
      // Another replica started at the same moment.
      if (!(error instanceof ApiError && error.code === 409)) throw error;
    }
  }
}
