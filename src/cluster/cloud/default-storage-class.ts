import { storedResource } from "../../resources/model/stored-resource.ts";
import { type ControllerContext, isStatus } from "../controllers/shared/controller.ts";
import { SIMULATED } from "../controllers/shared/simulated-storage.ts";

/** As in clusters of kind and minikube. */
const NAME = "standard";

/** Creates a default StorageClass whose volumes are simulated, unless there is a StorageClass. */
export async function prepareCloud({ resources, client }: ControllerContext): Promise<void> {
  const resource = storedResource(resources.catalog, "storage.k8s.io", "storageclasses");
  const prefix = resources.keys.prefix(resource.definition);
  const { entries } = await resources.store.list(prefix, { limit: 1 });
  if (entries.length > 0) return;
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const object = {
    kind: "StorageClass",
    apiVersion: "storage.k8s.io/v1",
    metadata: { name: NAME, annotations },
    provisioner: SIMULATED,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  };
  await client.create(resource, object).catch((error: unknown) => {
    if (!isStatus(error, 409)) throw error;
  });
}
