import { storedResource } from "../../../resources/model/stored-resource.ts";
import { type ControllerContext, ensureObject } from "../shared/controller.ts";

const NAMES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/** Creates the Namespaces default, kube-system, kube-public and kube-node-lease, unless they exist. */
export async function createDefaultNamespaces(context: ControllerContext): Promise<void> {
  const resource = storedResource(context.resources.catalog, "", "namespaces");
  for (const name of NAMES) {
    await ensureObject(context, resource, { kind: "Namespace", apiVersion: "v1", metadata: { name } });
  }
}
