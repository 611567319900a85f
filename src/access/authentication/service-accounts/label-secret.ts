import type { KubeObject } from "../../../base/api/object.ts";
import type { Catalog } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";

/**
 * Returns a function that sets a label of a Secret through the client. It passes errors to `report` and never rejects.
 */
export function labelSecret(
  catalog: Catalog,
  client: () => ObjectClient,
  report: (error: unknown) => void,
): (secret: KubeObject, name: string, value: string) => Promise<void> {
  return async ({ metadata }, label, value) => {
    const { namespace = "", name = "", uid } = metadata;
    const patch = { metadata: { uid, labels: { [label]: value } } };
    await client()
      .patch(storedResource(catalog, "", "secrets"), { namespace, name }, patch)
      .catch(report);
  };
}
